"""docs/examples/faults: every workload there can be planned as it is, and every kind of fault is in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.launch.feasibility import faults_of, impossible_cases
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.fault import fault_kinds
from streamgauge.spec.loading import load_workload

EXAMPLES = sorted((Path(__file__).parents[2] / "docs/examples/faults").glob("*.yaml"))


def cases_of(path: Path) -> tuple[Case, ...]:
    return make_plan(load_workload(path), "run").cases


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_can_be_done(path: Path) -> None:
    cases = cases_of(path)
    assert impossible_cases(cases, lambda case: None) == {}
    assert all(map(faults_of, cases)), "an example of faults without any"


def test_every_kind_is_in_one() -> None:
    shown = {spec.kind for path in EXAMPLES for case in cases_of(path) for spec in faults_of(case)}
    assert shown == set(fault_kinds())
