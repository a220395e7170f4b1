from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.core.status import RunStatus, write_status
from streamgauge.report.listed_runs import Listed, listed
from streamgauge.serve import run_list
from streamgauge.serve.run_list import RunList

from .conftest import NEW, OLD, SWEPT


def test_what_has_not_changed_is_not_read_again(
    written_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(written_runs, tmp_path / "runs")
    read: list[str] = []

    def counted(run: RunDir) -> Listed:
        read.append(run.id)
        return listed(run)

    monkeypatch.setattr(run_list, "listed", counted)
    runs = RunList(str(tmp_path / "runs"))
    first = runs.rows()
    assert [row.listed.run.id for row in first] == [SWEPT, NEW, OLD]
    assert runs.rows() == first
    assert sorted(read) == [OLD, NEW, SWEPT]
    tag_run(first[1].listed.run, ["changed"])
    row = runs.row(NEW)
    assert row is not None
    assert row.listed.tags == ["changed"]
    assert read[3:] == [NEW]


def test_a_run_in_progress_is_looked_at_every_time(written_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(written_runs / OLD, tmp_path / "runs" / OLD)
    runs = RunList(str(tmp_path / "runs"))
    run = runs.rows()[0].listed.run
    write_status(run, RunStatus())
    assert runs.rows()[0].is_running
    write_status(run, RunStatus(pid=2**22 + 1, pid_started_s=1.0))
    row = runs.rows()[0]
    assert (row.is_running, row.listed.state) == (False, "partial"), "its process is gone"


@pytest.mark.parametrize("name", ["", ".", "..", ".git", "../runs", "a/b", "/etc", "nothing"])
def test_only_runs_in_the_folder_are_found(written_runs: Path, name: str) -> None:
    assert RunList(str(written_runs)).find(name) is None
    assert RunList(str(written_runs)).row(name) is None
