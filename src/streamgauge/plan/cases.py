"""Cases: what is run at once, and gets one set of figures."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from streamgauge.core.errors import BadInput
from streamgauge.plan.agent_tasks import AgentTask, deal_out
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.plan.warm_up_file import WarmUp
from streamgauge.spec.families import family_of
from streamgauge.spec.load import Load
from streamgauge.spec.loading import parse
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

Work = TypeVar("Work", bound=SpecModel)


def own_work(value: Any, info: ValidationInfo) -> Any:
    """Content of `work` as the family of `kind` has it: a union whose members are installed families."""
    if isinstance(value, dict) and "kind" in info.data:
        return family_of(info.data["kind"]).work_model().model_validate(value)
    return value


def as_work(work: SpecModel, model: type[Work]) -> Work:
    """What a case is about, for those who know of which kind it is."""
    if not isinstance(work, model):
        raise TypeError(f"this case is about a {type(work).__name__}, not a {model.__name__}")
    return work


class Case(SpecModel):
    """What is run at once, and gets one set of figures."""

    id: str
    kind: str
    """Of which family it is."""
    target: Target
    others: tuple[Target, ...] = ()
    """Targets that take part beside it."""
    work: SerializeAsAny[SpecModel]
    """What is done, in the family's own terms; of most families a load."""
    measures_itself: bool = False
    """There is no system in it: what it takes is what sending, receiving and recording cost, so that the
    others can be read beside it."""
    parameters: dict[str, Any] = {}
    """The fields that differ from case to case, and their values here."""
    series: str = ""
    """Cases of a series go from light to heavy: after one that does not hold the others are not run."""
    iteration: int = 1
    """Which of several rounds of the same."""
    notes: tuple[str, ...] = ()
    """What is to be said with its figures, known before it runs."""
    topics: tuple[str, ...] = ()
    topic_settings: Topics = Topics()
    """Of those that have to be made."""
    time_limit_s: float = 0.0
    """The case is ended when its producers have not finished by then."""
    drain_timeout_s: float
    """How long the others may take after that."""
    tag: int = Field(ge=0)
    """Marks the messages of this case, so that no other message is taken for one of them."""
    agents: tuple[AgentTask, ...]
    warm_up: WarmUp | None = None
    """How it ended, where it went on until the load was at rest; known when the case has been run."""

    faults: tuple[FaultRecord, ...] = ()
    """What was done to its system meanwhile; known when the case has been run."""
    is_whole: bool = True
    """All agents came to an end of their own; known when the case has been run."""

    _own_work = field_validator("work", mode="before")(own_work)

    @field_validator("agents")
    @classmethod
    def _known_roles(cls, agents: tuple[AgentTask, ...], info: ValidationInfo) -> tuple[AgentTask, ...]:
        roles = family_of(info.data["kind"]).roles if "kind" in info.data else ()
        unknown = [task.kind for task in agents if roles and task.kind not in roles]
        if unknown:
            raise ValueError(f"there is no role {unknown[0]!r}; allowed: {', '.join(roles)}")
        return agents

    @property
    def targets(self) -> tuple[Target, ...]:
        """All that take part."""
        return (self.target, *self.others)

    @property
    def load(self) -> Load:
        """Of cases that are about one."""
        return as_work(self.work, Load)


def load_case(
    kind: str,
    target: Target,
    load: Load,
    case_id: str,
    run_id: str,
    *,
    parameters: Mapping[str, Any],
    iteration: int = 1,
    measures_itself: bool = False,
) -> Case:
    """A case of producers and consumers."""
    return Case(
        id=case_id,
        kind=kind,
        target=target,
        work=load,
        measures_itself=measures_itself,
        parameters=dict(parameters),
        iteration=iteration,
        notes=tuple(_notes(load)),
        topics=topic_names(load.topics, run_id, case_id),
        topic_settings=load.topics,
        time_limit_s=load.time_limit,
        drain_timeout_s=load.drain_timeout,
        tag=tag_of(run_id, case_id),
        agents=tuple(deal_out(load)),
    )


def topic_names(topics: Topics, run_id: str, case_id: str) -> tuple[str, ...]:
    name = f"{topics.name}-{run_id}-{case_id}" if topics.own_names else topics.name
    return (name,) if topics.count == 1 else tuple(f"{name}-{n}" for n in range(topics.count))


def tag_of(run_id: str, case_id: str) -> int:
    return zlib.crc32(f"{run_id}/{case_id}".encode())


def load_with(load: Load, parameters: Mapping[str, Any], source: str) -> Load:
    """The load with some fields replaced, by dotted path; `source`: the field that they come from."""
    if not parameters:
        return load
    content = load.model_dump(mode="json", by_alias=True)
    for path, value in parameters.items():
        place: Any = content
        *outer, field = path.split(".")
        for name in outer:
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict) or field not in place:
            raise BadInput(f"{source}.{path}: there is no such field in `load`")
        place[field] = value
    return parse(Load, content, f"{source}: load", whole="")


def _notes(load: Load) -> Iterator[str]:
    size = load.message.size
    if load.stream_size is not None and isinstance(size, int) and load.stream_size % size:
        count = load.stream_size // size
        yield (
            f"stream size {load.stream_size:,} B is no multiple of the message size {size:,} B: "
            f"{count:,} messages, {count * size:,} B, went to each partition"
        )
