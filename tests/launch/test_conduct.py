from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.launch.conduct import CaseSystem, Conduct, conduct_of
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.families import all_families, family_of
from streamgauge.spec.family import Family
from streamgauge.spec.load import Load
from streamgauge.spec.workload import Workload


@pytest.fixture
def case() -> Case:
    content = {
        "targets": [{"name": "sim", "driver": "simulated"}],
        "load": {"messages": 100, "warm_up_messages": 10, "transactions": {}},
    }
    [case] = make_plan(Workload.model_validate(content), "run").cases
    return case


def test_a_family_that_says_nothing_has_the_common_conduct() -> None:
    assert type(conduct_of("e2e")) is Conduct
    assert type(conduct_of("compare")) is not Conduct


@pytest.mark.parametrize(
    ("kind", "is_live"),
    [
        ("e2e", True),
        ("sweep", True),
        ("limit", True),
        ("transports", False),
        ("compare", False),
        ("fanout", False),
    ],
)
def test_who_may_be_watched_while_it_runs(kind: str, is_live: bool) -> None:
    assert family_of(kind).has_live_figures is is_live


@pytest.mark.parametrize("family", all_families(), ids=lambda family: family.kind)
def test_only_producers_and_consumers_have_live_figures(family: Family[Any]) -> None:
    assert not family.has_live_figures or issubclass(family.work_model(), Load)


def test_loads_are_asked_for_what_they_know(case: Case, tmp_path: Path) -> None:
    common, run = Conduct(), RunDir(str(tmp_path))
    assert common.message_count(case) == 110
    assert "cannot do that" in (common.why_impossible(case) or "")
    assert common.judge(case, []) is None
    assert common.watch(run, case, Console(quiet=True)) is None
    assert common.words_of(case) == ""
    with common.around(run, case, TargetSystem("x")) as system:
        assert system == CaseSystem()
        assert system.ended() is None


def test_of_what_is_no_load_nothing_is_assumed(case: Case) -> None:
    other = case.model_copy(update={"work": case.topic_settings})
    assert Conduct().message_count(other) is None
    assert Conduct().why_impossible(other) is None
