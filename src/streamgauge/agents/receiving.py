"""What one consumer receives: takes what comes, stamps it, says whose it is and whether it is whole."""

from __future__ import annotations

from collections.abc import Callable

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Ends, Rendezvous
from streamgauge.core.clock import NS_PER_S
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Driver
from streamgauge.payload.reading import MessageReader
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.recording.columns import ReceiveColumns
from streamgauge.tables.events import INTACT

_POLL_S = 0.1
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
        load = assignment.load
        self.number, self._ends = part.number, ends
        self._load, self._columns, self._diary, self._live = load, columns, diary, live
        self._reader = MessageReader(load.message.carrier, assignment.tag)
        own = ((part.topic, part.partition),) if isinstance(part, Stream) else part.partitions
        self.client: Consumer = driver.consumer(
            ConsumerOptions(
                number=part.number,
                topics=assignment.topics,
                carrier=load.message.carrier,
                partitions=own,
                group=assignment.group,
                start={(t, p): offset for t, p, offset in assignment.start_offsets},
                transactions=load.transactions is not None,
            )
        )
        self._warming_up = -(-load.total_warm_up_messages // load.producer_count)
        """Until a message with this sequence or a later one has come."""
        self.timed_out = False

    def run(self, rendezvous: Rendezvous) -> None:
        """Until all producers have finished and everything there is has been read."""
        clock = self.client.clock
        self._diary.mark("start", clock.now_ns(), self.number)
        if self._warming_up == 0:
            self._diary.mark("measure_begin", clock.now_ns(), self.number)
        while not (rendezvous.producers_finished() or rendezvous.stopping()):
            self.take(_POLL_S)
        self._diary.mark("measure_end", clock.now_ns(), self.number)
        if not rendezvous.stopping():
            self._drain(rendezvous)
        self._diary.mark("drained", clock.now_ns(), self.number)

    def take(self, timeout_s: float) -> bool:
        """Record what is there; wait for the first record as long as `timeout_s`."""
        records = self.client.poll(timeout_s)
        if records is None:
            return False
        received_ns = self.client.clock.now_ns()
        found = self._reader.read(records.values, records.carried)
        self._columns.add(
            len(records),
            {
                "state": found.state,
                "producer": found.producer,
                "sequence": found.sequence,
                "topic": records.topics,
                "partition": records.partitions,
                "offset": records.offsets,
                "size_bytes": found.size_bytes,
                "broker_ms": records.timestamps_ms,
                "broker_time": records.timestamp_kind,
            },
            received_ns,
        )
        if self._warming_up and bool((found.sequence >= self._warming_up)[found.state == INTACT].any()):
            self._warming_up = 0
            self._diary.mark("measure_begin", received_ns, self.number)
        self._live.count(self.number, self._columns.received)
        self._live.observe((received_ns - found.intended_ns)[found.state == INTACT])
        return True

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
        """What all replicas acknowledged can be seen; else it helps to know what the leaders did."""
        if self._load.acks == "all":
            return True
        return bool(acked_ends) and self.client.caught_up(acked_ends)

    def _more_comes(self, ends: Ends) -> bool:
        return self.take(_SETTLE_S) or self._ends() != ends
