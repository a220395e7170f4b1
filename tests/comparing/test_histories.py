from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.comparing.document import DiffVerdict
from streamgauge.comparing.histories import history_document
from streamgauge.comparing.history_show import show_history
from streamgauge.comparing.measured import measured_run
from streamgauge.comparing.series import series_up_to
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.report.page_renderer import render_page
from tests.serve.axe import violations_of

from .simulated_pairs import not_valid, simulated, with_environment

LEVELS = (*[1.0] * 6, *[1.6] * 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven runs, slower since the seventh, where the kernel is another; one that is not valid, one of
    another workload, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("series")
    for day, median_ms in enumerate(LEVELS, 1):
        name = f"202601{day:02d}-000000-sim-0001"
        run = simulated(folder, median_ms, seed=10 * day, name=name, messages=1500, rate=300)
        with_environment(run, kernel="old" if median_ms == 1 else "new")
    not_valid(simulated(folder, 30.0, seed=900, name="20260103-120000-sim-0002", messages=1500, rate=300))
    simulated(folder, 1.0, seed=901, name="20260103-130000-sim-0003", messages=1600, rate=300)
    broken = RunDir(str(folder / "20260104-120000-sim-0004"))
    broken.write_text(broken.plan, "half a pla")
    simulated(folder, 9.0, seed=902, name="20260201-000000-sim-0005", messages=1500, rate=300)
    return folder


def test_a_level_that_changed_is_found_with_what_changed_beside_it(folder: Path) -> None:
    newest = RunDir.open(str(folder / "20260111-000000-sim-0001"))
    document = history_document(series_up_to(newest, runs_in(newest.parent)))
    assert len(document.runs) == 12, "not what is broken, later, or of another workload"
    [case] = document.cases
    by_name = {metric.metric: metric for metric in case.metrics}
    [change] = by_name["p50"].changes
    assert change.run == "20260107-000000-sim-0001"
    assert change.ratio == pytest.approx(1.6, rel=0.05)
    assert change.verdict is DiffVerdict.SLOWER
    assert [(each.name, each.base, each.new) for each in change.environment] == [("kernel", "old", "new")]
    assert by_name["rate"].changes == []
    bad = [point.run for point in by_name["p50"].points if not point.is_quoted]
    assert bad == ["20260103-120000-sim-0002"]


def test_few_runs_show_no_change(folder: Path) -> None:
    runs = [measured_run(run) for run in runs_in(str(folder))[:2]]
    document = history_document(runs)
    assert document.needed_count > len(document.runs) == 2
    assert all(not metric.changes for case in document.cases for metric in case.metrics)


@pytest.mark.browser
def test_nothing_in_it_keeps_anybody_out(folder: Path, tmp_path: Path) -> None:
    newest = RunDir.open(str(folder / "20260111-000000-sim-0001"))
    document = history_document(series_up_to(newest, runs_in(newest.parent)))
    assert violations_of(render_page(show_history(document), None), tmp_path) == []
