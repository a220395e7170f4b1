from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from streamgauge.cli.runs_table import runs_table
from streamgauge.core.run_dir import RunDir
from streamgauge.report.listed_runs import listed
from tests.report.sample_run import single_run, sweep_run


def told(runs: list[RunDir], width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(runs_table([listed(run) for run in runs], width))
    return captured.get().splitlines()


def test_a_narrow_console_has_figures_and_verdicts_in_whole_rows_and_why_below(tmp_path: Path) -> None:
    run = sweep_run(tmp_path / "20260102-030405-sweep-cd34")
    fine = single_run(tmp_path / "20260102-030405-end-to-end-ab12")
    wide, narrow = told([run, fine], 400), told([run, fine], 80)
    assert "case 003 broke off" in wide[1]
    assert {"run", "p50", "p99", "integrity", "validity"} <= set(narrow[0].split())
    assert narrow[2].split()[0] == fine.id
    note = "".join(narrow[3:]).replace(" ", "")
    assert (
        note
        == f"{run.id}: case 003 broke off; go on with: streamgauge run --resume {run.location}".replace(
            " ", ""
        )
    )
