from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import RunStatus, write_status
from streamgauge.report.document import Glance
from streamgauge.report.listed_runs import Listed, age_text, listed
from streamgauge.report.quantities import NOTHING
from tests.report.sample_comparison import compared_run
from tests.report.sample_run import transports_run


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (0.4, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (10 * 86400 + 5, "10 d")],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


def test_a_family_without_such_figures_has_its_targets_and_verdicts(tmp_path: Path) -> None:
    found = listed(compared_run(tmp_path))
    assert found.target == "one, two"
    assert (found.rate, found.p50_ms, found.p99_ms) == (NOTHING, NOTHING, NOTHING)
    assert found.verdicts[0] != NOTHING


def test_of_a_run_that_ended_early_it_is_said_which_command_goes_on(tmp_path: Path) -> None:
    run = transports_run(tmp_path / "run")
    for can_resume, command in ((True, "go on with: streamgauge run --resume"), (False, "do it again with:")):
        write_status(run, RunStatus("partial", "interrupted", can_resume=can_resume))
        assert listed(run).why.startswith(f"interrupted; {command} ")


def test_percentiles_with_too_few_messages_behind_them_are_marked(tmp_path: Path) -> None:
    few, enough = Glance(10.0, 1.0, 9.0, 500), Glance(10.0, 2.0, 8.0, 5000)
    found = Listed(RunDir(str(tmp_path)), "ok", glances=[few, enough])
    assert (found.p50_ms, found.p99_ms) == ("1.000–2.000", "8.000–~9.000")
    alone = Listed(RunDir(str(tmp_path)), "ok", glances=[Glance(1.0, 1.0, 9.0, 19)])
    assert (alone.p50_ms, alone.p99_ms) == ("~1.000", "~9.000")


def test_many_targets_are_counted(tmp_path: Path) -> None:
    found = listed(transports_run(tmp_path / "renamed"))
    assert found.target == "4 targets"
    assert found.age == NOTHING, "its name says no time"
