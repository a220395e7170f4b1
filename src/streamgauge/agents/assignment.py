"""What an agent is given to do: its task with all that it needs to know of the case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SerializeAsAny, field_validator

from streamgauge.core.run_dir import RunDir
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.plan.cases import Case, Work, as_work, own_work
from streamgauge.spec.load import Load
from streamgauge.spec.model import SpecModel
from streamgauge.spec.settling import SettlingTerms, SettlingWork
from streamgauge.spec.target import Target


class Assignment(SpecModel):
    """Travels to the agent in memory only, since it holds what the target's secrets are."""

    run: str
    """Location of the run folder."""
    case: str
    tag: int
    task: AgentTask
    kind: str
    """Of which family the case is."""
    work: SerializeAsAny[SpecModel]
    """What is done, in the family's own terms."""
    topics: tuple[str, ...]
    time_limit_s: float
    """For producers; `drain_timeout_s` after that for the others."""
    drain_timeout_s: float
    target: Target
    endpoints: dict[str, str]
    start_offsets: tuple[tuple[int, int, int], ...] = ()
    """(topic, partition, offset): where each partition ended before the case."""
    environment: dict[str, str] = {}
    """What the `${NAME}`s in the target stand for."""
    debug: bool = False
    live_bootstrap: str | None = None
    """Kafka to which figures are published while the case runs; None: nobody wants them."""

    kept: str | None = None
    """A folder on the agent's host where its rows are while they are not written, if it is to be killed on
    purpose; None: they are in its own memory."""

    _own_work = field_validator("work", mode="before")(own_work)

    @classmethod
    def of(
        cls,
        run: RunDir,
        case: Case,
        task: AgentTask,
        endpoints: Mapping[str, str],
        start: Mapping[tuple[int, int], int] | None = None,
        **rest: Any,
    ) -> Assignment:
        """One task of a case; `start`: offsets to begin at, by (topic, partition)."""
        return cls(
            run=run.location,
            case=case.id,
            tag=case.tag,
            task=task,
            kind=case.kind,
            work=case.work,
            topics=case.topics,
            time_limit_s=case.time_limit_s,
            drain_timeout_s=case.drain_timeout_s,
            # A system is the launcher's: what would be loaded to know its settings is more than all else.
            target=case.target.model_copy(update={"system": None}),
            endpoints=dict(endpoints),
            start_offsets=tuple((t, p, offset) for (t, p), offset in (start or {}).items()),
            **rest,
        )

    def work_as(self, model: type[Work]) -> Work:
        """What is done, for the roles of a family that know it."""
        return as_work(self.work, model)

    @property
    def load(self) -> Load:
        """What producers and consumers do."""
        return self.work_as(Load)

    @property
    def settling(self) -> SettlingTerms | None:
        """Of a warm-up that goes on until the load is at rest."""
        return self.work.settling if isinstance(self.work, SettlingWork) else None

    @property
    def run_dir(self) -> RunDir:
        return RunDir(self.run)

    @property
    def expected_rows(self) -> int:
        """About how many messages each number of this agent will record; else, together, a million."""
        load = self.load
        total = (load.total_messages or 1_000_000) + load.total_warm_up_messages
        return total // max(1, load.producer_count if self.task.kind == "producer" else load.consumer_count)

    def transactional_id(self, number: int) -> str | None:
        """Of one producer; None without transactions."""
        if self.load.transactions is None:
            return None
        return f"streamgauge-{self.run_dir.id}-{self.case}-{number}"

    @property
    def commits(self) -> bool:
        """Members of its group may go, and others have to take over where they were."""
        return self.group is not None and bool(self.load.faults)

    @property
    def group(self) -> str | None:
        if self.load.subscription == "assigned":
            return None
        return f"streamgauge-{self.run_dir.id}-{self.case}"
