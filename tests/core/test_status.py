from __future__ import annotations

import os
from pathlib import Path

import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, read_status, write_status


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir.create(str(tmp_path), "status")


def test_a_status_written_is_read_back(run: RunDir) -> None:
    cases = {"001": CaseStatus("ok"), "002": CaseStatus("failed", "the broker said “no”")}
    status = RunStatus("partial", "interrupted", 17, cases)
    write_status(run, status)
    assert read_status(run) == status


def test_a_new_status_is_running_in_this_process() -> None:
    status = RunStatus()
    assert (status.status, status.reason, status.pid, status.cases) == ("running", None, os.getpid(), {})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "null",
        "[]",
        '"ok"',
        "{}",
        '{"status": "ok"}',
        '{"cases": []}',
        '{"cases": {"001": 5}}',
        '{"cases": {"001": {}}}',
        '{"cases": {"001": {"status": "ok", "mood": "good"}}}',
        '{"cases": {}, "mood": "good"}',
    ],
)
def test_what_is_no_status_is_named_with_its_file(run: RunDir, content: str) -> None:
    run.write_text(run.status, content)
    with pytest.raises(CorruptRun) as caught:
        read_status(run)
    assert str(caught.value).startswith(run.url("status.json"))
    assert "\n" not in str(caught.value)


def test_a_run_without_a_status_says_so(run: RunDir) -> None:
    with pytest.raises(CorruptRun, match=r"status\.json: missing"):
        read_status(run)
