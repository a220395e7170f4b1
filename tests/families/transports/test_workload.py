from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.transports.workload import Ladder
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload


def planned(**fields: Any) -> Plan:
    content = {
        "kind": "transports",
        "targets": [{"name": name, "driver": "simulated"} for name in ("floor", "log")],
        "load": {"messages": 10, "rate": "1k/s"},
        "cases": [{"rate": 1000.0}, {"rate": 5000.0, "messages": 50}],
        **fields,
    }
    return make_plan(parse(Workload, content, "w.yaml"), "run")


def test_each_target_is_given_every_step() -> None:
    plan = planned(harness="floor")
    assert [(case.id, case.target.name, case.load.rate, case.load.messages) for case in plan.cases] == [
        ("001", "floor", 1000, 10),
        ("002", "floor", 5000, 50),
        ("003", "log", 1000, 10),
        ("004", "log", 5000, 50),
    ]
    assert plan.cases[1].parameters == {"rate": 5000.0, "messages": 50}
    assert [case.measures_itself for case in plan.cases] == [True, True, False, False]
    assert not any(case.measures_itself for case in planned().cases)
    assert plan.section_as(Ladder).harness == "floor"
    assert Plan.model_validate(plan.model_dump(mode="json", by_alias=True)) == plan


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"harness": "other"}, "harness: other is not a target; allowed: floor, log"),
        ({"cases": []}, "cases: "),
        ({"cases": [{"speed": 1}]}, r"cases\.speed: there is no such field"),
        ({"iterations": 2}, "iterations: unknown field"),
    ],
)
def test_what_is_wrong_is_said(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        planned(**fields)
