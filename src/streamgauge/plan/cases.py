"""Sweep → cases: one case is one point of the sweep on one target."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.plan.agent_tasks import AgentTask, deal_out
from streamgauge.plan.contest import Contest
from streamgauge.spec.comparison import Comparison
from streamgauge.spec.loading import parse
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Load, Workload


class Case(SpecModel):
    """What is run at once, and gets one set of figures."""

    id: str
    target: Target
    load: Load
    parameters: dict[str, Any]
    """The swept fields and their values here."""
    topics: tuple[str, ...]
    tag: int
    """Marks the messages of this case, so that no other message is taken for one of them."""
    agents: tuple[AgentTask, ...]
    contest: Contest | None = None
    """Only of a comparison: `target` is then A's."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """All that take part."""
        return (self.target,) if self.contest is None else (self.contest.a, self.contest.b)


def expand(workload: Workload, run_id: str) -> list[Case]:
    """Every target × every point of the sweep, in the order written; a comparison is one case."""
    if workload.comparison is not None:
        return [_comparison(workload, workload.comparison, run_id)]
    fields = list(workload.sweep)
    points = list(itertools.product(*workload.sweep.values()))
    if not points:
        empty = [field for field, values in workload.sweep.items() if not values]
        raise BadInput(f"sweep.{empty[0]}: has no values")
    cases: list[Case] = []
    for target in workload.targets:
        for point in points:
            parameters = dict(zip(fields, point, strict=True))
            cases.append(_case(workload, target, parameters, f"{len(cases) + 1:03d}", run_id))
    return cases


def _case(workload: Workload, target: Target, parameters: dict[str, Any], case_id: str, run_id: str) -> Case:
    load = _with(workload.load, parameters)
    topics = load.topics
    names = (topics.name,) if topics.count == 1 else tuple(f"{topics.name}-{n}" for n in range(topics.count))
    return Case(
        id=case_id,
        target=target,
        load=load,
        parameters=parameters,
        topics=names,
        tag=zlib.crc32(f"{run_id}/{case_id}".encode()),
        agents=tuple(deal_out(load)),
    )


def _comparison(workload: Workload, comparison: Comparison, run_id: str) -> Case:
    contest = Contest(a=workload.targets[0], b=workload.targets[1], comparison=comparison)
    if contest.b.name == contest.control_name:
        raise BadInput(f"targets: {contest.b.name} is the name of A's control; choose another one for B")
    for cell in contest.cells:
        list(contest.rounds(cell))  # every topic has a legal name, or it is said now
    return Case(
        id="001",
        target=contest.a,
        load=workload.load,
        parameters={},
        topics=(),
        tag=zlib.crc32(f"{run_id}/001".encode()),
        agents=(AgentTask(kind="referee", number=0),),
        contest=contest,
    )


def _with(load: Load, parameters: dict[str, Any]) -> Load:
    """The load with some fields replaced, by dotted path."""
    if not parameters:
        return load
    content = load.model_dump(mode="json", by_alias=True)
    for path, value in parameters.items():
        place: Any = content
        *outer, field = path.split(".")
        for name in outer:
            place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict) or field not in place:
            raise BadInput(f"sweep.{path}: there is no such field in `load`")
        place[field] = value
    return parse(Load, content, "sweep: load")
