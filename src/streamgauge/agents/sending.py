"""What one producer sends: on schedule, stamped, and with the fate of every message recorded.

It is written as steps: between two of them somebody else's turn may come, since the streams of many
partitions can share one process. A step yields the time until which there is nothing to do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from streamgauge.agents.acknowledgements import AckCollector, InlineAcks
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.extent import Extent, SettlingExtent, settles
from streamgauge.agents.live import Live
from streamgauge.agents.pacing import Pacer, schedule_of
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.agents.slices import Slices
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import Driver, PacedProducer, Producer, ProducerOptions
from streamgauge.payload.messages import maker_of, sequence_at
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.recording.columns import SendColumns
from streamgauge.tables.events import ABORTED, PLANNED_ABORT

_FLUSH_DEADLINE_S = 60.0
_WARM_UP_DEADLINE_S = 10.0
_SETTLE_S = 0.01
_FULL_WAIT_NS = 1_000_000
_COMMIT_LOOK_NS = 200_000
_BATCH = 1000
_BENEATH, _BENEATH_NS, _UNPACED_NS = 8192, 100_000_000, 10_000_000
"""Most messages, and the longest time, that a loop beneath Python is left alone for; without a schedule its
rate is watched from outside, in slots of a quarter of a second."""
AT_ONCE = 0
"""Yielded by a step that wants the next one soon."""


class Sending:
    """One producer: its client, its messages, its schedule and its rows."""

    def __init__(
        self,
        assignment: Assignment,
        driver: Driver,
        part: AgentTask | Stream,
        columns: SendColumns,
        diary: Diary,
        live: Live,
    ) -> None:
        """`part`: the whole task, or one of its streams."""
        load, topics = assignment.load, len(assignment.topics)
        place = (part.topic, part.partition) if isinstance(part, Stream) else None
        self._load, self._columns, self._diary, self._live = load, columns, diary, live
        self.number, self._part = part.number, part
        self._settles_first = settles(load, driver)
        self.extent: Extent | None = None
        """Which of its messages count; made at the start."""
        self._topics = range(topics) if place is None else [place[0]]
        self._maker = maker_of(load.message, assignment.tag, part.number)
        self._schedule = schedule_of(load, part.number)
        self._transaction = load.transactions.messages if load.transactions else None
        self._transactions = 0
        if self._transaction is not None:
            columns.hold_from(0)
        # A partition's own time counts from when its way is open, unless a schedule says otherwise.
        self._settles = place is not None and self._schedule is None
        options = ProducerOptions(
            part.number,
            assignment.topics,
            load.message.carrier,
            load.acks,
            load.compression,
            place=place,
            completions=load.completions,
            sequence_at=sequence_at(load.message),
            transactional_id=assignment.transactional_id(part.number),
        )
        self._paced = self._paced_producer(driver, options)
        self.most_at_once = _BENEATH if self._paced else min(_BATCH, self._maker.batch_limit)
        self.client: Producer = self._paced or driver.producer(options)
        self.is_alone = True
        """Nobody else's turn comes while this one waits."""
        if load.acks == "1" or not driver.capabilities.replayable:
            # Consumers cannot see at once what only the leader has, or what nobody keeps: they need to know
            # how much to wait for.
            columns.follow_ends(topics, load.topics.partitions)
        self._slices = Slices(self.client)
        self._probes = 0
        self.timed_out = False

    def _paced_producer(self, driver: Driver, options: ProducerOptions) -> PacedProducer | None:
        """None: this loop does all, message by message."""
        ingredients = self._maker.ingredients()
        if ingredients is None or driver.capabilities.simulated_time or self._transaction is not None:
            return None
        return driver.paced_producer(options, ingredients)

    def probe(self) -> None:
        """Send a message that nobody counts: its number is below 0."""
        now_ns = self.client.clock.now_ns()
        self._probes += self.client.send(self._maker.make(-1 - self._probes, np.array([now_ns])), 0)
        self.client.poll(0)

    def settle_probes(self) -> None:
        """Before anything is counted, know what became of what is not."""
        deadline = time.monotonic() + _WARM_UP_DEADLINE_S
        while self.client.outstanding():
            if time.monotonic() > deadline:
                raise CaseFailed(
                    f"producer {self.number}: messages that were to prove the way are not acknowledged after "
                    f"{_WARM_UP_DEADLINE_S:g} s"
                )
            self.client.poll(_SETTLE_S)

    def steps(self, start_ns: int, acks: AckCollector, rendezvous: Rendezvous) -> Iterator[int]:
        """From the start until everything is sent and told of."""
        yield from self._send_all(start_ns, acks, rendezvous)
        yield from self._flush(acks, rendezvous)
        self._diary.mark("measure_end", self.client.clock.now_ns(), self.number)

    def _send_all(self, start_ns: int, acks: AckCollector, rendezvous: Rendezvous) -> Iterator[int]:
        clock = self.client.clock
        pacer = None if self._schedule is None else Pacer(self._schedule, start_ns)
        extent = self.extent = self._extent(start_ns, rendezvous)
        end_ns, end_is_limit = self._end(start_ns, extent)
        sequence = turn = committed = 0
        # Of a load that settles it is known only in the end when measuring began.
        measuring = self._settles_first
        while extent.last is None or sequence < extent.last:
            if sequence == extent.warm_up and not measuring:
                if self._settles and extent.warm_up:
                    committed = yield from self._end_transaction(committed, sequence, acks)
                    patience_ns = int(_WARM_UP_DEADLINE_S * NS_PER_S)
                    yield from self._wait_for_fates(clock.now_ns() + patience_ns, acks, rendezvous)
                self._diary.mark("measure_begin", clock.now_ns(), self.number)
                measuring = True
            if extent.refresh():
                end_ns, end_is_limit = self._end(start_ns, extent)
            now = clock.now_ns()
            if now >= end_ns or rendezvous.stopping():
                self.timed_out = end_is_limit and now >= end_ns
                break
            room = self._room(extent, sequence, committed)
            if room <= 0:
                break  # it has just become known that all that counts has been sent
            if self._paced is not None:
                next_ns = self._send_beneath(self._paced, sequence, room, now, end_ns, pacer)
                sequence = self._columns.sent
                self._live.count(self.number, sequence)
                acks.look()
                yield next_ns
                continue
            if pacer is None:
                intended = np.full(room, now)
            else:
                intended = pacer.due(sequence, now, room)
                if not len(intended):
                    yield min(pacer.next_due_ns(sequence), end_ns)
                    continue
            intended = extent.cut(sequence, intended)
            topic = self._topics[turn % len(self._topics)]
            yield from self._hand_over(sequence, intended, topic, end_ns, acks, rendezvous)
            sequence = self._columns.sent
            self._live.count(self.number, sequence)
            turn += 1
            acks.look()
            if self._transaction is not None and sequence - committed >= self._transaction:
                committed = yield from self._end_transaction(committed, sequence, acks)
            yield AT_ONCE
        if not rendezvous.stopping():
            yield from self._end_transaction(committed, sequence, acks)

    def _extent(self, start_ns: int, rendezvous: Rendezvous) -> Extent:
        if not self._settles_first:
            return Extent(self._part.messages, self._part.warm_up_messages)
        limit_ns = int(self._load.warm_up_limit * NS_PER_S)
        return SettlingExtent(self._part.messages, start_ns, limit_ns, rendezvous.measured_slot)

    def _room(self, extent: Extent, sequence: int, committed: int) -> int:
        """How many messages the next batch may have."""
        room = extent.room(sequence, self.most_at_once)
        return room if self._transaction is None else min(room, self._transaction - (sequence - committed))

    def _send_beneath(
        self, client: PacedProducer, sequence: int, room: int, now_ns: int, end_ns: int, pacer: Pacer | None
    ) -> int:
        """What is due, in a loop beneath Python (`_hand_over` is its twin); when to go on."""
        extent, due = self.extent, None
        assert extent is not None
        if pacer is None:
            extent.cut(sequence, np.array([now_ns]))
        else:
            due = extent.cut(sequence, pacer.ahead(sequence, room))
            room = len(due)
        rows = self._columns.free_rows(now_ns)
        # Others want their turn as soon as with the twin.
        count = min(room, len(rows["sent_ns"]), _BENEATH if self.is_alone else _BATCH)
        until_ns = min(end_ns, now_ns + (_BENEATH_NS if pacer else _UNPACED_NS))
        sent = client.send_due(sequence, count, due, rows, until_ns, waits=self.is_alone)
        self._columns.filled(sent, now_ns)
        if self.is_alone or sent == count:
            return AT_ONCE
        now_ns = client.clock.now_ns()
        due_ns = now_ns if pacer is None else pacer.next_due_ns(sequence + sent)
        if due_ns > now_ns:
            return min(due_ns, end_ns)
        # Fewer than were asked for are no sign of a full client: it may take only so many at a time.
        return now_ns + _FULL_WAIT_NS if client.is_full else AT_ONCE

    def _hand_over(
        self,
        sequence: int,
        intended: NDArray[np.int64],
        topic: int,
        end_ns: int,
        acks: AckCollector,
        rendezvous: Rendezvous,
    ) -> Iterator[int]:
        """Send one batch. A client that is full is waited for: the delay shows as schedule lag."""
        clock, columns = self.client.clock, self._columns
        batch = self._maker.make(sequence, intended)
        sizes = self._maker.sizes(sequence, len(batch))
        done = 0
        while done < len(intended) and not rendezvous.stopping():
            with columns.handing_over:
                taken, sent_ns = self._slices.send(batch, topic, end_ns)
                if taken:
                    # Without a schedule a message is due when it is sent.
                    due = intended[done:] if self._schedule is not None else sent_ns
                    columns.add(taken, topic, sizes[done:], due, sent_ns)
            done += taken
            if done < len(intended):
                batch = batch.rest(taken)
                if clock.now_ns() >= end_ns:
                    return
                acks.look()
                yield clock.now_ns() + _FULL_WAIT_NS

    def _end_transaction(self, first: int, sequence: int, acks: AckCollector) -> Generator[int, None, int]:
        """In a thread: other streams of this process must not wait for it."""
        if self._transaction is None:
            return sequence
        failures: list[Exception] = []
        aborted: list[str] = []
        if sequence > first:
            self._transactions += 1
        every = self._load.transactions.abort_every if self._load.transactions else None
        is_to_abort = every is not None and sequence > first and self._transactions % every == 0

        def end() -> None:
            try:
                if is_to_abort:
                    self.client.abort()
                    aborted.append(PLANNED_ABORT)
                elif (why := self.client.commit()) is not None:
                    aborted.append(f"{ABORTED}: {why}")
            except Exception as error:
                failures.append(error)

        assert isinstance(acks, InlineAcks), "a thread of its own would call the producer meanwhile"
        acks.is_paused = True
        ending = threading.Thread(target=end, name="transaction", daemon=True)
        ending.start()
        while ending.is_alive():
            yield self.client.clock.now_ns() + _COMMIT_LOOK_NS
        acks.is_paused = False
        if failures:
            raise failures[0]
        if aborted:
            self._columns.fail_from(first, aborted[0])
        self._columns.hold_from(sequence)
        acks.look()
        return sequence

    def _flush(self, acks: AckCollector, rendezvous: Rendezvous) -> Iterator[int]:
        """Wait until the fate of every message is known, but not for ever."""
        self.client.flush_soon()
        deadline_ns = self.client.clock.now_ns() + int(_FLUSH_DEADLINE_S * NS_PER_S)
        yield from self._wait_for_fates(deadline_ns, acks, rendezvous)
        if self.client.outstanding() and not rendezvous.stopping():
            self.timed_out = True

    def _wait_for_fates(self, deadline_ns: int, acks: AckCollector, rendezvous: Rendezvous) -> Iterator[int]:
        clock = self.client.clock
        while self.client.outstanding() and not rendezvous.stopping() and clock.now_ns() < deadline_ns:
            acks.look()
            yield clock.now_ns() + 5 * _FULL_WAIT_NS

    def _end(self, start_ns: int, extent: Extent) -> tuple[int, bool]:
        """When to end at the latest, and whether that cuts short what was asked for."""
        limit_s, duration_s = self._load.time_limit, self._load.duration
        if self._part.messages is None and duration_s is not None and duration_s <= limit_s:
            return extent.end_ns(start_ns, int(duration_s * NS_PER_S)), False
        return extent.end_ns(start_ns, int(limit_s * NS_PER_S)), True
