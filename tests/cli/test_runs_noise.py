from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.cli.runs_noise import runs_noise
from streamgauge.core.run_dir import RunDir
from streamgauge.report.write import write_report
from tests.comparing.simulated_pairs import simulated
from tests.comparing.test_between_runs import LEVELS, series_of


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    run = simulated(tmp_path_factory.mktemp("one"), 1.0)
    write_report(run)
    return run


def test_without_runs_it_is_what_is_usual_and_said_to_be_not_known(tmp_path: Path) -> None:
    found = runs_noise(str(tmp_path / "none"))
    assert (found.run_count, round(found.detectable_p50_percent)) == (0, 13)
    assert found.words.startswith("not known yet: diff learns it from 5 valid runs")


def test_earlier_runs_say_it_of_whole_runs(one: RunDir, tmp_path: Path) -> None:
    series_of(one, tmp_path, *LEVELS)
    found = runs_noise(str(tmp_path))
    assert found.run_count == len(LEVELS)
    assert found.detectable_p50_percent > 50, "these are far more than 3% apart"
    assert found.words.startswith(
        f"by {len(LEVELS)} runs of {found.workload} on this machine, two single runs"
    )


def test_too_few_runs_say_nothing(one: RunDir, tmp_path: Path) -> None:
    series_of(one, tmp_path, *LEVELS[:4])
    assert runs_noise(str(tmp_path)).run_count == 0
