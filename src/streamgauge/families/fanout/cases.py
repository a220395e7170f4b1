"""Targets × scenarios × clients, a case each; those of one target and scenario are a series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamgauge.families.fanout.point import points_of
from streamgauge.families.fanout.workload import FanoutWorkload
from streamgauge.plan.cases import Case, tag_of, topic_names
from streamgauge.plan.old_plans import renewed_plan


def cases_of(workload: FanoutWorkload, run_id: str) -> Iterator[Case]:
    points = [(target, point) for target in workload.targets for point in points_of(workload.fanout, target)]
    for number, (target, point) in enumerate(points, 1):
        case_id = f"{number:03d}"
        yield Case(
            id=case_id,
            kind=workload.kind,
            target=target,
            work=point,
            parameters={"scenario": point.scenario, "clients": point.clients, "via": point.via},
            series=point.series,
            topics=topic_names(workload.fanout.topics, run_id, case_id),
            topic_settings=workload.fanout.topics,
            tag=tag_of(run_id, case_id),
            agents=tuple(point.agents()),
        )


def renewed(old_plan: dict[str, Any]) -> dict[str, Any] | None:
    """A plan of 0.1, where a case had its point in `fanout`, beside a load that nobody ran."""
    if not any(case.get("fanout") for case in old_plan["cases"]):
        return None
    made = renewed_plan(old_plan, "fanout", "fanout")
    for case in made["cases"]:
        case["series"] = case["work"]["series"]
    return made
