from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.cli.listed_runs import age_text, listed, runs_table
from streamgauge.core.run_dir import RunDir
from streamgauge.report.quantities import NOTHING
from tests.report.sample_comparison import compared_run
from tests.report.sample_run import single_run, sweep_run, transports_run


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


def told(runs: list[RunDir], width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(runs_table([listed(run) for run in runs], width))
    return captured.get().splitlines()


def test_a_narrow_console_has_figures_and_verdicts_in_whole_rows_and_why_below(tmp_path: Path) -> None:
    run = sweep_run(tmp_path / "20260102-030405-sweep-cd34")
    fine = single_run(tmp_path / "20260102-030405-end-to-end-ab12")
    wide, narrow = told([run, fine], 240), told([run, fine], 80)
    assert "case 003 broke off" in wide[1]
    assert len(narrow) == 4
    assert {"run", "p50", "p99", "integrity", "validity"} <= set(narrow[0].split())
    assert narrow[2].split()[0] == fine.id
    assert narrow[3] == f"{run.id}: case 003 broke off"


def test_many_targets_are_counted(tmp_path: Path) -> None:
    found = listed(transports_run(tmp_path / "renamed"))
    assert found.target == "4 targets"
    assert found.age == NOTHING, "its name says no time"
