"""`--out` is where runs are, in `plot` and `report` as in every command; `--dir` is where pictures go."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.core.run_dir import RunDir
from tests.report.sample_run import sweep_run

NAME = "20260102-030405-sweep-cd34"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    sweep_run(tmp_path / "runs" / NAME)
    return tmp_path / "runs"


def invoked(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_pictures_of_a_run_below_out_go_where_dir_says(runs: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    told = invoked("plot", "latest", "--x", "partitions", "--out", str(runs), "--dir", str(pictures))
    assert told.split()[0] == str(pictures / "partitions.svg")
    assert (pictures / "partitions.dat").is_file()


def test_without_dir_they_go_into_the_run(runs: Path) -> None:
    invoked("plot", NAME[:12], "--x", "partitions", "--out", str(runs))
    assert RunDir.open(str(runs / NAME)).has(f"{RunDir.report_plots}/partitions.svg")


def test_out_without_runs_is_the_folder_for_pictures_as_it_once_was(runs: Path, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    told = invoked("plot", str(runs / NAME), "--x", "partitions", "--out", str(pictures))
    assert "--dir is their flag" in told
    assert (pictures / "partitions.svg").is_file()


def test_a_knob_has_the_name_of_its_flag(runs: Path) -> None:
    assert "message-size.svg" in invoked("plot", "latest", "--x", "size", "--out", str(runs))


@pytest.mark.parametrize("command", ["report", "analyze"])
def test_out_is_where_they_look(tmp_path: Path, command: str) -> None:
    done = CliRunner().invoke(app, [command, "latest", "--out", f"hdfs-like/{tmp_path.name}", "--debug"])
    assert f"hdfs-like/{tmp_path.name}: there is no run yet" in str(done.exception)


@pytest.mark.parametrize("command", ["report", "results"])
def test_a_run_is_found_below_out(runs: Path, command: str) -> None:
    assert invoked(command, "latest", "--out", str(runs))
