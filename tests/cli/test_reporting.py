from __future__ import annotations

import shutil
from pathlib import Path
from typing import NoReturn

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.cli.reporting import report_of
from streamgauge.core.run_dir import RunDir

from ..golden import stored


def _no_spark() -> NoReturn:
    raise AssertionError("this run is small")


def test_a_report_tells_of_the_run_before(tmp_path: Path) -> None:
    first = stored.copy_of("e2e", tmp_path)
    analyze_with(_no_spark, first)
    name = first.id
    later = tmp_path / f"{name}-later"
    shutil.copytree(first.local(), later)
    document, shown, page = report_of(RunDir.open(str(later)))
    assert shown.since is not None
    assert shown.since.text.startswith("Since the last run with these settings (")
    assert document.answer is not None
    made = Path(page).read_text()
    assert "Since the last run with these settings (" in made
    assert 'href="csv/latency.csv"' in made
    assert (later / "report/csv/latency.csv").exists()
    _, alone, _ = report_of(first)
    assert alone.since is None
