from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.cli import calibrating
from streamgauge.core.errors import CaseFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import make_plan
from streamgauge.sizing.costs import MeasuredClients, MeasuredMessages
from streamgauge.spec.workload import Workload
from tests.sizing.made_up import made_up_costs


def test_what_is_measured_is_of_many_kinds_and_enough_for_a_fit() -> None:
    messages, clients = (make_plan(one, "calibration") for one in calibrating.calibration_workloads())
    sizes = {case.load.message.mean_bytes for case in messages.cases}
    rates = {case.load.rate for case in messages.cases}
    assert len(sizes) >= 3
    assert len(rates) >= 4
    assert len({case.load.partition_count for case in messages.cases}) >= 3
    # Five causes, and some more loads than that for an interval; the first is not counted.
    assert len(messages.cases) >= 9
    counts = [case.series for case in clients.cases]
    assert all(counts.count(series) >= 3 for series in counts)


def test_costs_are_of_the_runs_and_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_up, asked = made_up_costs(), list[str]()

    def run(workload: Workload, folder: str, **_: bool) -> RunDir:
        asked.append(workload.kind)
        return RunDir(str(tmp_path))

    def told_messages(run: RunDir) -> tuple[MeasuredMessages, ...]:
        return made_up.messages

    def told_clients(run: RunDir) -> tuple[MeasuredClients, ...]:
        return made_up.clients

    monkeypatch.setattr(calibrating, "measured_run", run)
    monkeypatch.setattr(calibrating, "measured_messages", told_messages)
    monkeypatch.setattr(calibrating, "measured_clients", told_clients)
    found = calibrating.calibrate(quiet=True)
    assert found.messages == made_up.messages[1:], "all but the first load, in which Java compiled"
    assert found.clients == made_up.clients
    assert found.cores >= 1
    assert len(asked) == 2


def test_loads_that_broke_are_no_costs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calibrating, "run_workload", lambda *_, **__: 1)
    workload, _ = calibrating.calibration_workloads()
    with pytest.raises(CaseFailed, match="calibration: some of its loads broke"):
        calibrating.measured_run(workload, str(tmp_path), debug=False, quiet=True)
