"""One agent on its stage: a run folder, columns, a diary; and its rows read back."""

from __future__ import annotations

from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.consumer import ConsumerAgent
from streamgauge.agents.diary import Diary
from streamgauge.agents.live import Live
from streamgauge.agents.producer import ProducerAgent
from streamgauge.core.clock import ClockReading
from streamgauge.drivers.contract import Driver
from streamgauge.plan.agent_tasks import deal_out
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.spec.load import Load
from streamgauge.tables.events import MARKS, RECEIVES, SENDS

from ..recording.recorder import Recorder
from .fakes import FAKE_TARGET, START_NS, FakeDriver, FakeRendezvous

READING = ClockReading(host="boot-1", monotonic_ns=100, wall_ns=1_000_100, error_ns=3)


def assigned(folder: str, agent: str = "producer-0", **load: Any) -> Assignment:
    """The assignment of one agent of a case with this load."""
    whole = Load.model_validate({"messages": 100, **load})
    (task,) = [task for task in deal_out(whole) if task.agent == agent]
    return Assignment(
        run=folder,
        case="001",
        tag=77,
        task=task,
        kind="e2e",
        work=whole,
        time_limit_s=whole.time_limit,
        drain_timeout_s=whole.drain_timeout,
        topics=tuple(f"t-{number}" for number in range(whole.topics.count)),
        target=FAKE_TARGET,
        endpoints={},
        environment={"SG_PASSWORD": "hunter2"},
    )


class Stage:
    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.recorder = Recorder(assignment.run)
        self.diary = Diary(assignment, self.recorder.files)
        self.live = Live(assignment)
        self.rendezvous = FakeRendezvous()

    def produce(self, driver: Driver) -> ProducerAgent:
        columns = [SendColumns(n, self.recorder.files, self.recorder.writer) for n in self._numbers]
        agent = ProducerAgent(self.assignment, driver, columns, self.diary, self.live)
        agent.run(START_NS, self.rendezvous)
        for own in columns:
            own.close()
        return agent

    def consume(self, driver: FakeDriver) -> ConsumerAgent:
        columns = [ReceiveColumns(n, self.recorder.files, self.recorder.writer) for n in self._numbers]
        agent = ConsumerAgent(self.assignment, driver, columns, self.diary, self.live)
        agent.run(self.rendezvous)
        for own in columns:
            own.close()
        return agent

    @property
    def _numbers(self) -> tuple[int, ...]:
        return self.assignment.task.numbers

    @property
    def sends(self) -> list[dict[str, Any]]:
        return sorted(self.recorder.rows(SENDS), key=lambda row: row["sequence"])

    @property
    def receives(self) -> list[dict[str, Any]]:
        return self.recorder.rows(RECEIVES)

    def marks(self) -> list[tuple[str, int]]:
        """Name and time of every mark, in the order in which they were made."""
        self.diary.set_clock(READING, self.rendezvous.start)
        self.diary.write()
        return [(row["mark"], row["at_ns"]) for row in self.recorder.rows(MARKS)]
