from __future__ import annotations

import subprocess
import sys

import pytest

from streamgauge.agents.assignment import Assignment
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

from .conftest import Assign


def test_an_assignment_travels_as_json(assign: Assign) -> None:
    steps = [{"rate": "1k/s", "for": "2s"}]
    assignment = assign("consumer-0", messages=None, rate=steps).model_copy(
        update={"start_offsets": ((0, 0, 17),)}
    )
    assert Assignment.model_validate_json(assignment.model_dump_json(by_alias=True)) == assignment


@pytest.mark.parametrize(("subscription", "group"), [("assigned", None), ("group", "streamgauge-run-001")])
def test_a_group_is_named_by_run_and_case(assign: Assign, subscription: str, group: str | None) -> None:
    assert assign(subscription=subscription).group == group


HEAR = """
import sys
import streamgauge.agents.process
from streamgauge.agents.assignment import Assignment

before = set(sys.modules)
assert Assignment.model_validate_json(sys.stdin.read()).target.driver == "kafka_confluent"
print(sorted(name for name in set(sys.modules) - before if not name.startswith("streamgauge.families")))
"""


@pytest.mark.process
def test_hearing_of_a_case_on_a_system_of_ours_loads_nothing_of_systems() -> None:
    """An agent hears of it between two others that are being measured."""
    target = {"name": "kafka", "driver": "kafka_confluent", "system": {"security": ["scram"]}}
    plan = make_plan(parse(Workload, {"targets": [target], "load": {"messages": 10}}, "a test"), "run")
    [case] = plan.cases
    assignment = Assignment.of(RunDir("run"), case, case.agents[0], {})
    assert case.target.system is not None
    assert assignment.target.system is None
    told = assignment.model_dump_json(by_alias=True)
    done = subprocess.run(
        [sys.executable, "-c", HEAR], input=told, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
