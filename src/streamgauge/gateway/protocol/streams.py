"""A stream of notifications: what one session gets, or many sessions that get exactly the same.

A stream counts its data lines, keeps the newest for recovery, and knows where it stands in every item
that it follows. While it is open, lines are made as events come. While it is not, because its reader is slow
or away, events wait, and are conflated when they take too much room.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Self

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.commands import Frequency
from streamgauge.gateway.protocol.ring import RecoveryRing, RecoveryRoom
from streamgauge.gateway.protocol.subscriptions import Plan, Position, Subscription, Subscriptions


class Touched(list["Stream"]):
    """Streams that have something to send. `is_full`: one of them has so much that it should not wait.
    `room`: what all of them together may keep of their past."""

    def __init__(self, burst_bytes: int = 4_194_304, recovery_bytes_of_all: int | None = None) -> None:
        super().__init__()
        self.burst_bytes, self.is_full = burst_bytes, False
        self.room = RecoveryRoom(recovery_bytes_of_all)

    def clear(self) -> None:
        super().clear()
        self.is_full = False


class Stream:
    """`touched` is where a stream puts itself when it has something to send; its owner empties that list."""

    __slots__ = (
        *(
            "_behind",
            "_held_bytes",
            "_is_ready",
            "_is_touched",
            "_limit_bytes",
            "_recovery_bytes",
            "_thins_out_bytes",
            "_throttled_bytes",
            "_touched",
        ),
        *("_waiting", "announced_bytes", "burst_bytes", "conflates_at_once", "count", "is_open", "lost"),
        *("outbox", "outbox_bytes", "ring", "subscriptions"),
    )

    def __init__(self, touched: Touched, *, limit_bytes: int, recovery_bytes: int, count: int = 0) -> None:
        self._touched, self._is_touched = touched, False
        self.burst_bytes = touched.burst_bytes
        self._limit_bytes, self._recovery_bytes = limit_bytes, recovery_bytes
        self.count = count
        """Data lines so far."""
        self.ring = RecoveryRing(recovery_bytes, count, touched.room)
        self.subscriptions = Subscriptions()
        self.outbox: list[bytes] = []
        """Data lines to be sent next; they count once they are taken."""
        self.outbox_bytes = 0
        """Of events in it."""
        self.announced_bytes = 0
        """In lines that belong to no item, since lines were taken last: nothing conflates them."""
        self.lost = 0
        """Events dropped so far in a way that clients are told of."""
        self._is_ready = True
        self.is_open = True
        """Whether an event may become a line at once."""
        self.conflates_at_once = False
        """Do not wait for a limit: what is sent late should at least be new."""
        self._behind: deque[Position] = deque()
        self._held_bytes = 0
        self._waiting: dict[Position, None] = {}
        self._throttled_bytes, self._thins_out_bytes = 0, limit_bytes
        """What frequencies hold back, at most; and what it is looked at anew from."""

    def subscribe(self, plan: Plan, *, snapshot: bool, length: int | None = None) -> None:
        """Announce a subscription, and follow its items."""
        fields, by_command = plan.view.fields, plan.mode == "COMMAND"
        self.announce(
            notifications.subscribed(plan.sub_id, len(plan.feeds), fields, by_command=by_command),
            notifications.configured(plan.sub_id, plan.frequency),
        )
        positions = [Position(self, plan, index) for index in range(len(plan.feeds))]
        self.subscriptions.add(Subscription(plan, positions))
        for position in positions:
            position.begin(snapshot=snapshot, length=length)

    def unsubscribe(self, sub_id: int) -> Plan:
        """Follow the items of a subscription no more; KeyError when there is none."""
        subscription = self.subscriptions.remove(sub_id)
        for position in subscription.positions:
            position.end()
        self.announce(notifications.unsubscribed(sub_id))
        return subscription.plan

    def reconfigure(self, sub_id: int, frequency: Frequency | None) -> None:
        """Another frequency for a filtered subscription; None: only tell the one in force."""
        subscription = self.subscriptions[sub_id]
        if frequency is not None:
            subscription.plan = subscription.plan.at(frequency)
            for position in subscription.positions:
                # What waited goes first; then the new frequency counts from its first event.
                while position.throttle is not None and position.throttle.next_due_ns() is not None:
                    due_ns = position.throttle.next_due_ns()
                    assert due_ns is not None
                    position.release(due_ns)
                position.plan, position.throttle = subscription.plan, subscription.plan.throttle()
        self.announce(notifications.configured(sub_id, subscription.plan.frequency))

    def announce(self, *lines: bytes) -> None:
        """Data lines that belong to no item."""
        self.outbox += lines
        self.announced_bytes += sum(map(len, lines))
        self.touch()

    def closing(self) -> Iterator[Plan]:
        """Follow nothing any more, one subscription after another; those that have ended."""
        subscriptions, self.subscriptions = self.subscriptions, Subscriptions()
        for subscription in subscriptions.values():
            for position in subscription.positions:
                position.end()
            yield subscription.plan

    def block(self) -> None:
        """Whoever reads this cannot take more for now: let events wait."""
        self._is_ready = self.is_open = False

    def unblock(self) -> None:
        self._is_ready = True
        self.is_open = not self._behind
        if self._behind or self.outbox:
            self.touch()

    def take(self, room_bytes: int | None = None) -> list[bytes]:
        """The lines to be sent now, which count as sent: all, or until `room_bytes` are filled."""
        lines, self.outbox = self.outbox, []
        self.outbox_bytes = self.announced_bytes = 0
        room = None if room_bytes is None else room_bytes - sum(map(len, lines))
        while self._behind and (room is None or room > 0):
            position = self._behind.popleft()
            made = position.next_lines()
            lines += made
            if room is not None:
                room -= sum(map(len, made))
            if position.queue:
                self._behind.append(position)
        if not self._behind:
            self._held_bytes = 0
            self.is_open = self._is_ready
        self.count += len(lines)
        self.ring.extend(lines)
        return lines

    def release(self, now_ns: int) -> int | None:
        """Pass on what frequencies held back until now; when to come again, None if nothing waits."""
        due = []
        for position in list(self._waiting):
            due_ns = position.release(now_ns)
            if due_ns is None:
                del self._waiting[position]
            else:
                due.append(due_ns)
        return min(due, default=None)

    def next_due_ns(self) -> int | None:
        return min(
            (due for p in self._waiting if p.throttle and (due := p.throttle.next_due_ns()) is not None),
            default=None,
        )

    @property
    def is_blocked(self) -> bool:
        return not self._is_ready

    @property
    def has_more(self) -> bool:
        """Whether `take` would find something."""
        return bool(self.outbox or self._behind)

    def fork(self) -> Self:
        """A stream for one who leaves: it stands where this one does. Nothing may be waiting to be sent."""
        assert not self.has_more
        twin = type(self)(
            self._touched,
            limit_bytes=self._limit_bytes,
            recovery_bytes=self._recovery_bytes,
            count=self.count,
        )
        for subscription in self.subscriptions.values():
            positions = [position.copy(twin) for position in subscription.positions]
            twin.subscriptions.add(Subscription(subscription.plan, positions))
            for position in positions:
                if position.throttle is not None and position.throttle.next_due_ns() is not None:
                    twin.wait_for(position)
        return twin

    def kind(self) -> tuple[int, ...]:
        """Streams of the same kind follow the same; interned plans are told apart by where they lie."""
        return tuple([id(subscription.plan) for subscription in self.subscriptions.values()])

    def stands_as(self, other: Stream) -> bool:
        """Whether both will send the same from now on, being of the same kind."""
        if self.has_more or other.has_more:
            return False
        return all(
            mine.stands_as(its)
            for ours, theirs in zip(self.subscriptions.values(), other.subscriptions.values(), strict=True)
            for mine, its in zip(ours.positions, theirs.positions, strict=True)
        )

    def touch(self) -> None:
        if not self._is_touched:
            self._is_touched = True
            self._touched.append(self)

    def untouch(self) -> None:
        """The owner has taken it off its list."""
        self._is_touched = False

    # What positions call.

    def put(self, line: bytes) -> None:
        """A line of an event, to be sent next. Records come in batches, and one subscriber may follow each
        of them often: what has become too much is not left to grow until the batch is done."""
        self.outbox.append(line)
        self.outbox_bytes += len(line)
        if self.outbox_bytes > self.burst_bytes:
            self.overflows()
        self.touch()

    def overflows(self) -> None:
        self._touched.is_full = True

    def hold(self, position: Position, size_bytes: int) -> None:
        """A position has one more entry in its queue."""
        assert position.queue
        if len(position.queue) == 1:
            self._behind.append(position)
        self._held_bytes += size_bytes
        if self._held_bytes > self._limit_bytes:
            self._conflate()
        elif self.conflates_at_once and position.plan.frequency.filtered:
            self._held_bytes -= position.queued_bytes()
            position.conflate(self._limit_bytes)
            self._held_bytes += position.queued_bytes()
            if not position.queue:
                self._behind.remove(position)

    def wait_for(self, position: Position, size_bytes: int = 0) -> None:
        """A position has something (more) that waits for its turn."""
        if position not in self._waiting:
            self._waiting[position] = None
            self.touch()
        self._throttled_bytes += size_bytes
        if self._throttled_bytes > self._thins_out_bytes:
            self._thin_out()

    def forget(self, position: Position) -> None:
        """A position's queue is void."""
        if position.queue:
            position.queue.clear()
            self._behind.remove(position)
        self._waiting.pop(position, None)

    def _thin_out(self) -> None:
        """Frequencies may hold back more than there is room for; what has gone since is found out here."""
        throttles = [position.throttle for position in self._waiting if position.throttle is not None]
        held = sum(throttle.kept_bytes() for throttle in throttles)
        if held > self._limit_bytes:
            for throttle in throttles:
                throttle.thin_out()
            held = sum(throttle.kept_bytes() for throttle in throttles)
        self._throttled_bytes, self._thins_out_bytes = held, max(self._limit_bytes, 2 * held)

    def _conflate(self) -> None:
        room_bytes = self._limit_bytes // (2 * len(self._behind))
        for position in self._behind:
            position.conflate(room_bytes)
        self._held_bytes = sum(position.queued_bytes() for position in self._behind)
        self._behind = deque(position for position in self._behind if position.queue)
