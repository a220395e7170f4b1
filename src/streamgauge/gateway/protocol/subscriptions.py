"""A subscription, and where a stream of notifications stands in each of its items."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.commands import Frequency, Mode
from streamgauge.gateway.protocol.conflation import Queue, conflated
from streamgauge.gateway.protocol.events import Event, Mark, View, clear_mark, end_mark
from streamgauge.gateway.protocol.feeds import Feed
from streamgauge.gateway.protocol.throttling import Throttle, new_throttle

if TYPE_CHECKING:
    from streamgauge.gateway.protocol.streams import Stream

_MARK_BYTES = 50


@dataclass(frozen=True, eq=False)
class Plan:
    """What was subscribed. Alike ones are the same object, so that who follows the same is easy to see."""

    sub_id: int
    mode: Mode
    feeds: tuple[Feed, ...]
    view: View
    frequency: Frequency
    buffer_size: int | None
    most_kept: int
    """How many events may wait for their turn where the client sets no limit."""

    def at(self, frequency: Frequency) -> Plan:
        return interned(replace(self, frequency=frequency))

    def throttle(self) -> Throttle | None:
        return new_throttle(self.mode, self.frequency, self.buffer_size, self.most_kept)

    @property
    def has_lists(self) -> bool:
        """Whether a snapshot is a list that has an end."""
        return self.mode in ("DISTINCT", "COMMAND")


_plans: WeakValueDictionary[tuple[object, ...], Plan] = WeakValueDictionary()


def interned(plan: Plan) -> Plan:
    identity = (
        *(plan.sub_id, plan.mode, plan.feeds, id(plan.view)),
        *(plan.frequency, plan.buffer_size, plan.most_kept),
    )
    return _plans.setdefault(identity, plan)


class Position:
    """Where one stream stands in one item of a subscription: what it got last, and what it has yet to get."""

    __slots__ = ("_index", "_lost", "_prefix", "awaits_end", "base", "plan", "queue", "stream", "throttle")

    def __init__(self, stream: Stream, plan: Plan, index: int) -> None:
        self.stream, self.plan, self._index = stream, plan, index
        self._prefix = notifications.update_prefix(plan.sub_id, index + 1)
        self.base: Event | None = None
        """The event that the next delta refers to; None: the next update has to be complete."""
        self.queue: Queue | None = None
        self.throttle = plan.throttle()
        self.awaits_end = False
        self._lost = 0

    @property
    def feed(self) -> Feed:
        return self.plan.feeds[self._index]

    def begin(self, *, snapshot: bool, length: int | None) -> None:
        """Start to follow the item, with its snapshot if that is wanted."""
        feed = self.feed
        feed.followers[self] = None
        if not snapshot:
            return
        for event in feed.snapshot(length):
            self._pass(event)
        if self.plan.has_lists:
            if feed.snapshot_complete:
                self._pass(end_mark(self.plan.sub_id, self._index + 1))
            else:
                self.awaits_end = True

    def end(self) -> None:
        """Follow the item no more; what was not sent yet never will be."""
        self.feed.followers.pop(self, None)
        self.stream.forget(self)

    def offer(self, event: Event, now_ns: int) -> None:
        stream = self.stream
        if self.throttle is None and stream.is_open:
            # What `put` does, without another call: this is where every update passes.
            line = event.line(self._prefix, self.plan.view, self.base)
            self.base = event
            stream.outbox.append(line)
            stream.outbox_bytes += len(line)
            if stream.outbox_bytes > stream.burst_bytes:
                stream.overflows()
            stream.touch()
        elif self.awaits_end or self.throttle is None or self.throttle.admits(event, now_ns):
            # A snapshot is not held back by a frequency.
            self._pass(event)
        else:
            stream.wait_for(self, event.size_bytes)

    def snapshot_ended(self) -> None:
        if self.awaits_end:
            self.awaits_end = False
            self._pass(end_mark(self.plan.sub_id, self._index + 1))

    def snapshot_cleared(self) -> None:
        if self.throttle is not None:
            self.throttle.clear()
        if self.queue:
            self.stream.forget(self)
        self._pass(clear_mark(self.plan.sub_id, self._index + 1))

    def release(self, now_ns: int) -> int | None:
        """Pass on what a frequency has held back long enough; when to come again, if at all."""
        if self.throttle is None:
            return None
        for event in self.throttle.release(now_ns):
            self._pass(event)
        return self.throttle.next_due_ns()

    def conflate(self, room_bytes: int) -> None:
        if self.queue:
            self.queue, lost = conflated(
                self.queue,
                self.plan.mode,
                filtered=self.plan.frequency.filtered,
                kept=self.plan.buffer_size,
                room_bytes=room_bytes,
            )
            self._lost += lost
            self.stream.lost += lost

    def next_lines(self) -> list[bytes]:
        """The lines of what is first in the queue, and of what had to be dropped before it."""
        assert self.queue
        lines = []
        if self._lost:
            lines.append(notifications.overflow(self.plan.sub_id, self._index + 1, self._lost))
            self._lost = 0
        lines.append(self._line(self.queue.popleft()))
        return lines

    def queued_bytes(self) -> int:
        if not self.queue:
            return 0
        return sum(e.size_bytes if isinstance(e, Event) else _MARK_BYTES for e in self.queue)

    def stands_as(self, other: Position) -> bool:
        """Whether both will get the same from now on, plans being the same."""
        return (
            self.base is other.base
            and self.awaits_end is other.awaits_end
            and not self._is_behind()
            and not other._is_behind()
        )

    def copy(self, stream: Stream) -> Position:
        """The same place in another stream; followed from now on."""
        twin = Position(stream, self.plan, self._index)
        twin.base, twin.awaits_end, twin._lost = self.base, self.awaits_end, self._lost
        twin.throttle = None if self.throttle is None else self.throttle.copy()
        self.feed.followers[twin] = None
        return twin

    def _is_behind(self) -> bool:
        return bool(self.queue or self._lost or (self.throttle and self.throttle.next_due_ns() is not None))

    def _pass(self, entry: Event | Mark) -> None:
        stream = self.stream
        if stream.is_open:
            stream.put(self._line(entry))
        else:
            if self.queue is None:
                self.queue = deque()
            self.queue.append(entry)
            stream.hold(self, entry.size_bytes if isinstance(entry, Event) else _MARK_BYTES)
            stream.touch()

    def _line(self, entry: Event | Mark) -> bytes:
        if isinstance(entry, Mark):
            return entry.line
        line = entry.line(self._prefix, self.plan.view, self.base)
        self.base = entry
        return line


class Subscription:
    """A plan, and where the stream stands in each of its items."""

    __slots__ = ("plan", "positions")

    def __init__(self, plan: Plan, positions: list[Position]) -> None:
        self.plan, self.positions = plan, positions


class Subscriptions(dict[int, Subscription]):
    """Of one stream, by their number."""

    __slots__ = ("_times", "item_count")

    def __init__(self) -> None:
        super().__init__()
        self.item_count = 0
        """Of all of them together."""
        self._times: dict[Feed, int] = {}
        """How often each item is followed."""

    def add(self, subscription: Subscription) -> None:
        self[subscription.plan.sub_id] = subscription
        self.item_count += len(subscription.positions)
        for feed in subscription.plan.feeds:
            self._times[feed] = self._times.get(feed, 0) + 1

    def remove(self, sub_id: int) -> Subscription:
        """KeyError when there is none."""
        subscription = self.pop(sub_id)
        self.item_count -= len(subscription.positions)
        for feed in subscription.plan.feeds:
            self._times[feed] -= 1
            if not self._times[feed]:
                del self._times[feed]
        return subscription

    def times_followed(self, feeds: Iterable[Feed]) -> list[int]:
        """How often each of these would be followed, were they followed too."""
        return [self._times.get(feed, 0) + times for feed, times in Counter(feeds).items()]
