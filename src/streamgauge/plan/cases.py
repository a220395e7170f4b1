"""Sweep → cases: one case is one point of the sweep on one target."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.plan.agent_tasks import AgentTask, deal_out
from streamgauge.plan.contest import Contest
from streamgauge.plan.fanout_point import FanoutPoint, points_of
from streamgauge.spec.comparison import Comparison
from streamgauge.spec.fanout import Fanout
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
    iteration: int = 1
    """Which of several rounds of the same."""
    notes: tuple[str, ...] = ()
    """What is to be said with its figures, known before it runs."""
    topics: tuple[str, ...]
    tag: int
    """Marks the messages of this case, so that no other message is taken for one of them."""
    agents: tuple[AgentTask, ...]
    contest: Contest | None = None
    """Only of a comparison: `target` is then A's."""
    fanout: FanoutPoint | None = None
    """Only of a fan-out."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """All that take part."""
        return (self.target,) if self.contest is None else (self.contest.a, self.contest.b)


def expand(workload: Workload, run_id: str) -> list[Case]:
    """Every target × every round × every listed case × every point of the sweep, in the order written.

    A comparison is one case.
    """
    if workload.comparison is not None:
        return [_comparison(workload, workload.comparison, run_id)]
    if workload.fanout is not None:
        return list(_fanout(workload, workload.fanout, run_id))
    fields = list(workload.sweep)
    points = [dict(zip(fields, point, strict=True)) for point in itertools.product(*workload.sweep.values())]
    if not points:
        empty = [field for field, values in workload.sweep.items() if not values]
        raise BadInput(f"sweep.{empty[0]}: has no values")
    for field in fields:
        if any(field in own for own in workload.cases):
            raise BadInput(f"cases: {field} is swept, too; say it in one of the two")
    rounds = range(1, workload.iterations + 1)
    listed = workload.cases or ({},)
    cases: list[Case] = []
    for target, iteration, own, point in itertools.product(workload.targets, rounds, listed, points):
        parameters = {**own, **point}
        load, case_id = load_with(workload.load, parameters), f"{len(cases) + 1:03d}"
        cases.append(make_case(target, load, case_id, run_id, parameters=parameters, iteration=iteration))
    return cases


def make_case(
    target: Target,
    load: Load,
    case_id: str,
    run_id: str,
    *,
    parameters: Mapping[str, Any],
    iteration: int = 1,
) -> Case:
    topics = load.topics
    name = f"{topics.name}-{run_id}-{case_id}" if topics.own_names else topics.name
    names = (name,) if topics.count == 1 else tuple(f"{name}-{n}" for n in range(topics.count))
    return Case(
        id=case_id,
        target=target,
        load=load,
        parameters=dict(parameters),
        iteration=iteration,
        notes=tuple(_notes(load)),
        topics=names,
        tag=zlib.crc32(f"{run_id}/{case_id}".encode()),
        agents=tuple(deal_out(load)),
    )


def _comparison(workload: Workload, comparison: Comparison, run_id: str) -> Case:
    topics = comparison.topics
    prefix = f"{topics.name}-{run_id}" if topics.own_names else topics.name
    contest = Contest(
        a=workload.targets[0], b=workload.targets[1], comparison=comparison, topic_prefix=prefix
    )
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


def _fanout(workload: Workload, fanout: Fanout, run_id: str) -> Iterator[Case]:
    points = [(target, point) for target in workload.targets for point in points_of(fanout, target)]
    for number, (target, point) in enumerate(points, 1):
        case_id = f"{number:03d}"
        parameters = {"scenario": point.scenario, "clients": point.clients, "via": point.via}
        made = make_case(target, workload.load, case_id, run_id, parameters=parameters)
        yield made.model_copy(update={"agents": tuple(point.agents()), "fanout": point})


def _notes(load: Load) -> Iterator[str]:
    size = load.message.size
    if load.stream_size is not None and isinstance(size, int) and load.stream_size % size:
        count = load.stream_size // size
        yield (
            f"stream size {load.stream_size:,} B is no multiple of the message size {size:,} B: "
            f"{count:,} messages, {count * size:,} B, went to each partition"
        )


def load_with(load: Load, parameters: Mapping[str, Any]) -> Load:
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
    return parse(Load, content, "sweep: load", whole="")
