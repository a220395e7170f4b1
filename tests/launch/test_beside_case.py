"""Who asks for roll-ups that cannot be is told so, and who would need them and did not ask, too."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.beside_case import BesideCase
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.spec.workload import Workload


class Asked:
    def __init__(self, why_not: str | None = None) -> None:
        self._why_not = why_not
        self.cases: list[str] = []

    def why_not(self, plan: Plan) -> str | None:
        return self._why_not

    def beside(self, run: RunDir, case: Case) -> AbstractContextManager[None]:
        self.cases.append(case.id)
        return nullcontext()


class Elsewhere(RunDir):
    is_local = False


def planned(**recording: Any) -> Plan:
    load = {"messages": 1000, "rate": 1000} | ({"recording": recording} if recording else {})
    content = {"kind": "e2e", "targets": [{"name": "t", "driver": "simulated"}], "load": load}
    return make_plan(Workload.model_validate(content), "run")


def test_on_one_host_each_case_has_it(tmp_path: Path) -> None:
    asked, plan = Asked(), planned(raw_limit="1MiB")
    beside = BesideCase(RunDir(str(tmp_path)), plan, "local[2]", asked)
    with beside.of(plan.cases[0]):
        assert asked.cases == ["001"]
    assert beside.foretold(plan.cases[0], 10**9) is None


@pytest.mark.parametrize(
    ("kind", "master", "why_not", "goes", "said"),
    [
        (RunDir, "spark://host:7077", None, False, "several hosts"),
        (Elsewhere, "local[2]", None, False, "not on this host's disk"),
        (RunDir, "local[2]", "it reads all", False, "it reads all"),
        (RunDir, "local[2]", None, True, "hangs on all"),
    ],
)
def test_where_it_cannot_be_who_asked_is_refused_and_others_hear_how_much_it_will_be(
    kind: type[RunDir], master: str, why_not: str | None, goes: bool, said: str, tmp_path: Path
) -> None:
    run, asked = kind(str(tmp_path)), Asked(why_not)
    with pytest.raises(BadInput, match=said):
        BesideCase(run, planned(raw_limit="1MiB"), master, asked, plans_as_it_goes=goes)
    plan = planned()
    beside = BesideCase(run, plan, master, asked, plans_as_it_goes=goes)
    with beside.of(plan.cases[0]):
        assert asked.cases == []
    assert beside.foretold(plan.cases[0], 1000) is None
    assert "27.9 GiB" in str(beside.foretold(plan.cases[0], 10**9))
    assert said in str(beside.foretold(plan.cases[0], 10**9))
