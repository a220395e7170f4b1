"""A comparison is one case: its rounds belong together."""

from __future__ import annotations

from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.planned_comparison import PlannedComparison
from streamgauge.families.compare.workload import CompareWorkload
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.plan.cases import Case, tag_of
from streamgauge.plan.old_plans import renewed_plan

_ID = "001"


def the_case(workload: CompareWorkload, run_id: str) -> Case:
    topics = workload.comparison.topics
    planned = PlannedComparison(
        a=workload.targets[0],
        b=workload.targets[1],
        comparison=workload.comparison,
        topic_prefix=f"{topics.name}-{run_id}" if topics.own_names else topics.name,
    )
    if planned.b.name == planned.control_name:
        raise BadInput(f"targets: {planned.b.name} is the name of A's control; choose another one for B")
    planned.check_topics()
    return Case(
        id=_ID,
        kind=workload.kind,
        target=planned.a,
        others=(planned.b,),
        work=planned,
        topic_settings=topics,
        drain_timeout_s=workload.comparison.time_limit,
        tag=tag_of(run_id, _ID),
        agents=(AgentTask(kind="referee", number=0),),
    )


def renewed(old_plan: dict[str, Any]) -> dict[str, Any] | None:
    """A plan of 0.1, where a case had a `contest` beside a load that nobody ran."""
    planned = next((case["contest"] for case in old_plan["cases"] if case.get("contest")), None)
    if planned is None:
        return None
    made = renewed_plan(old_plan, "compare", "contest")
    for case in made["cases"]:
        case["others"] = [planned["b"]]
    return made
