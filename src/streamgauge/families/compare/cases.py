"""A comparison is one case: its rounds belong together."""

from __future__ import annotations

from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.contest import Contest
from streamgauge.families.compare.workload import CompareWorkload
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.plan.cases import Case, tag_of
from streamgauge.plan.old_plans import renewed_plan

_ID = "001"


def the_case(workload: CompareWorkload, run_id: str) -> Case:
    topics = workload.comparison.topics
    contest = Contest(
        a=workload.targets[0],
        b=workload.targets[1],
        comparison=workload.comparison,
        topic_prefix=f"{topics.name}-{run_id}" if topics.own_names else topics.name,
    )
    if contest.b.name == contest.control_name:
        raise BadInput(f"targets: {contest.b.name} is the name of A's control; choose another one for B")
    for cell in contest.cells:
        list(contest.rounds(cell))  # every topic has a legal name, or it is said now
    return Case(
        id=_ID,
        kind=workload.kind,
        target=contest.a,
        others=(contest.b,),
        work=contest,
        topic_settings=topics,
        drain_timeout_s=workload.comparison.time_limit,
        tag=tag_of(run_id, _ID),
        agents=(AgentTask(kind="referee", number=0),),
    )


def renewed(old_plan: dict[str, Any]) -> dict[str, Any] | None:
    """A plan of 0.1, where a case had a `contest` beside a load that nobody ran."""
    contest = next((case["contest"] for case in old_plan["cases"] if case.get("contest")), None)
    if contest is None:
        return None
    made = renewed_plan(old_plan, "compare", "contest")
    for case in made["cases"]:
        case["others"] = [contest["b"]]
    return made
