"""Targets × scenarios × clients, a case each; those of one target and scenario are a series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamgauge.families.fanout.point import points_of
from streamgauge.families.fanout.workload import FanoutWorkload
from streamgauge.plan.cases import Case, tag_of, topic_names
from streamgauge.plan.old_plans import renewed_plan

_SPARE_S = 60.0
"""For a generator that is behind when its last message was due."""


def cases_of(workload: FanoutWorkload, run_id: str) -> Iterator[Case]:
    fanout = workload.fanout
    points = [(target, point) for target in workload.targets for point in points_of(fanout, target)]
    for number, (target, point) in enumerate(points, 1):
        case_id = f"{number:03d}"
        yield Case(
            id=case_id,
            kind=workload.kind,
            target=target,
            work=point,
            parameters={"scenario": point.scenario, "clients": point.clients, "via": point.via},
            series=point.series,
            topics=topic_names(fanout.topics, run_id, case_id),
            topic_settings=fanout.topics,
            time_limit_s=(point.warm_up_s or 0.0) + fanout.duration + _SPARE_S,
            drain_timeout_s=fanout.drain_timeout,
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
