"""What one consumer receives: takes what comes, stamps it, says whose it is and whether it is whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.extent import settles
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Ends, Rendezvous
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.errors import Unreachable
from streamgauge.drivers.contract import ColumnReader, Consumer, ConsumerOptions, Driver, Received
from streamgauge.payload.few import FEW
from streamgauge.payload.messages import reader_of
from streamgauge.payload.reading import Identities, MessageReader
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.recording.columns import ReceiveColumns
from streamgauge.tables.events import DEALT_MARK, DRAINED_MARK, INTACT

_POLL_S = 0.1
_PROVE_S = 0.05
_SETTLE_S = 1.0
"""Without acks from all replicas, messages may still be on their way to where consumers see them."""


class Receiving:
    """One consumer: its client and its rows."""

    def __init__(
        self,
        assignment: Assignment,
        driver: Driver,
        part: AgentTask | Stream,
        columns: ReceiveColumns,
        diary: Diary,
        live: Live,
        ends: Callable[[], Ends],
    ) -> None:
        """`part`: the whole task, or one of its streams. `ends`: where the partitions end now."""
        load, self._tag = assignment.load, assignment.tag
        self.number, self._ends = part.number, ends
        self._load, self._columns, self._diary, self._live = load, columns, diary, live
        own = ((part.topic, part.partition),) if isinstance(part, Stream) else part.partitions
        self.client: Consumer = self._open(
            driver,
            ConsumerOptions(
                number=part.number,
                topics=assignment.topics,
                carrier=load.message.carrier,
                partitions=own,
                group=assignment.group,
                start={(t, p): offset for t, p, offset in assignment.start_offsets},
                transactions=load.transactions is not None,
                commits=assignment.commits and driver.capabilities.commits,
            ),
        )
        self._reader = reader_of(load.message, assignment.tag, self.client.clock)
        self._into_columns = self._column_reader(assignment.tag)
        self._in_group, self._dealt = assignment.group is not None, 0
        self._keeps = driver.capabilities.replayable
        self._settles_first = settles(load, driver)
        """Then it is known only in the end when measuring began."""
        self._probes = 0
        self._warming_up = -(-load.total_warm_up_messages // load.producer_count)
        """Until a message with this sequence or a later one has come."""
        self.timed_out = False

    def _open(self, driver: Driver, options: ConsumerOptions) -> Consumer:
        return driver.consumer(options)

    def _column_reader(self, tag: int) -> ColumnReader | None:
        """None: what comes is read here. So it is where that takes more than a look at a header."""
        plain = isinstance(self._reader, MessageReader) and not self._load.proof
        return self.client.column_reader(tag) if plain else None

    def run(self, rendezvous: Rendezvous) -> None:
        """Until all producers have finished and everything there is has been read."""
        clock = self.client.clock
        self._diary.mark("start", clock.now_ns(), self.number)
        if self._warming_up == 0 and not self._settles_first:
            self._diary.mark("measure_begin", clock.now_ns(), self.number)
        while not (rendezvous.producers_finished() or rendezvous.stopping()):
            self.take(_POLL_S)
        self._diary.mark("measure_end", clock.now_ns(), self.number)
        if not rendezvous.stopping():
            self._drain(rendezvous)
        self._diary.mark(DRAINED_MARK, clock.now_ns(), self.number)

    def take(self, timeout_s: float) -> bool:
        """Record what is there; wait for the first record as long as `timeout_s`."""
        if self._into_columns is not None:
            return self._take_into_columns(self._into_columns, timeout_s)
        records = self.client.poll(timeout_s)
        if self._in_group:
            self._note_deals()
        if records is None:
            return False
        received_ns = self.client.clock.now_ns()
        if len(records) <= FEW and isinstance(records.values, list):
            self._take_few(records, records.values, received_ns)
            return True
        found = self._reader.read(records.values, records.carried)
        columns: dict[str, Any] = {
            "state": found.state,
            "producer": found.producer,
            "sequence": found.sequence,
            "topic": records.topics,
            "partition": records.partitions,
            "offset": records.offsets,
            "size_bytes": found.size_bytes,
            "broker_ms": records.timestamps_ms,
            "broker_time": records.timestamp_kind,
        }
        stamps = received_ns if found.read_ns is None else found.read_ns
        if self._load.proof:
            columns, stamps = self._without_probes(columns, stamps, found)
        self._columns.add(len(columns["state"]), columns, stamps)
        latencies_ns = received_ns - found.intended_ns
        self._tell(received_ns, found.state == INTACT, found.sequence, found.producer, latencies_ns)
        return True

    def _note_deals(self) -> None:
        """Before what came with it is stamped: whoever goes back does so after this."""
        dealt = self.client.dealt_count() or 0
        for _ in range(dealt - self._dealt):
            self._diary.mark(DEALT_MARK, self.client.clock.now_ns(), self.number)
        self._dealt = dealt

    def _take_few(self, records: Received, values: list[bytes], received_ns: int) -> None:
        """The same, one by one: for a few, arrays cost more than the records."""
        add_row, topics, partitions = self._columns.add_row, records.topics, records.partitions
        offsets, times_ms, kinds = records.offsets, records.timestamps_ms, records.timestamp_kind
        for row, found in enumerate(self._reader.read_few(values, records.carried)):
            state, producer, sequence, intended_ns, read_ns = found
            is_intact = state == INTACT
            if self._load.proof and sequence < 0 and is_intact:
                self._probes += 1
                continue
            add_row(
                received_ns if read_ns is None else read_ns,
                state,
                producer,
                sequence,
                topics if isinstance(topics, int) else topics[row],
                partitions if isinstance(partitions, int) else partitions[row],
                offsets[row],
                len(values[row]),
                times_ms[row],
                kinds if isinstance(kinds, int) else kinds[row],
            )
            if is_intact:
                if self._warming_up and sequence >= self._warming_up:
                    self._begin_measuring(received_ns)
                self._live.observe_one(self.number, received_ns - intended_ns, producer)
        self._live.count(self.number, self._columns.received)

    def _take_into_columns(self, reader: ColumnReader, timeout_s: float) -> bool:
        """The same, in a loop beneath Python; the other one is its twin."""
        rows = self._columns.free_rows(self.client.clock.now_ns())
        count = reader.read(rows, timeout_s)
        if not count:
            return False
        state, sequence, producer = (rows[name][:count] for name in ("state", "sequence", "producer"))
        received_ns = rows["received_ns"][:count]
        self._columns.filled(count, int(received_ns[0]))
        latencies_ns = received_ns - reader.intended_ns[:count]
        self._tell(int(received_ns[-1]), state == INTACT, sequence, producer, latencies_ns)
        return True

    def _tell(
        self,
        received_ns: int,
        intact: NDArray[np.bool_],
        sequence: NDArray[np.int64],
        producer: NDArray[np.int32],
        latencies_ns: NDArray[np.int64],
    ) -> None:
        if self._warming_up and bool((sequence >= self._warming_up)[intact].any()):
            self._begin_measuring(received_ns)
        self._live.observe(self.number, latencies_ns, producer, intact)
        self._live.count(self.number, self._columns.received)

    def _begin_measuring(self, received_ns: int) -> None:
        self._warming_up = 0
        self._diary.mark("measure_begin", received_ns, self.number)

    def prove(self, deadline_s: float) -> None:
        """Wait until something has come: only then is it known that the rest will."""
        until = time.monotonic() + deadline_s
        while not self._probes:
            if time.monotonic() > until:
                raise Unreachable(self._unproven(deadline_s))
            self.take(_PROVE_S)

    def _unproven(self, deadline_s: float) -> str:
        return (
            f"consumer {self.number} has received nothing of what was sent to it for {deadline_s:g} s; "
            "the clock was not started"
        )

    def _without_probes(
        self, columns: dict[str, Any], stamps: Any, found: Identities
    ) -> tuple[dict[str, Any], Any]:
        counted = (found.sequence >= 0) | (found.state != INTACT)
        self._probes += int((~counted).sum())
        if counted.all():
            return columns, stamps
        kept = {name: values[counted] if np.ndim(values) else values for name, values in columns.items()}
        return kept, stamps[counted] if np.ndim(stamps) else stamps

    def _drain(self, rendezvous: Rendezvous) -> None:
        """Read up to where the partitions end, or until the time for it is up."""
        clock = self.client.clock
        deadline_ns = clock.now_ns() + int(self._load.drain_timeout * NS_PER_S)
        ends = self._ends()
        while not rendezvous.stopping():
            late = clock.now_ns() >= deadline_ns
            # Others may write to the topic for ever: past the deadline their records keep nobody.
            if self.take(_POLL_S) and not (late and self.client.caught_up(ends)):
                continue
            if self.client.caught_up(ends):
                if self._has_all(rendezvous.acked_ends()) or not self._more_comes(ends):
                    return
                ends = self._ends()
            if clock.now_ns() >= deadline_ns:
                self.timed_out = True
                return

    def _has_all(self, acked_ends: Ends) -> bool:
        """What all replicas acknowledged can be seen; else it helps to know what producers were told."""
        if self._load.acks == "all" and self._keeps:
            return True
        return bool(acked_ends) and self.client.caught_up(acked_ends)

    def _more_comes(self, ends: Ends) -> bool:
        return self.take(_SETTLE_S) or self._ends() != ends
