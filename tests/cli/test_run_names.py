from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamgauge.cli.run_names import complete_run

RUNS = ("20260101-120000-b-0001", "20260102-090000-a-0002")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in RUNS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.json").write_text("{}")
    (tmp_path / RUNS[0] / "tags.json").write_text(json.dumps(["main"]))
    (tmp_path / RUNS[1] / "tags.json").write_text("broken")
    (tmp_path / "20260103-no-run").mkdir()
    monkeypatch.setenv("STREAMGAUGE_RUNS", str(tmp_path))
    return tmp_path


def test_names_tags_and_latest_complete_a_run(folder: Path) -> None:
    assert complete_run("") == ["latest", "main", RUNS[1], RUNS[0]]
    assert complete_run("20260102") == [RUNS[1]]
    assert complete_run("m") == ["main"]
    assert complete_run("./") == []


@pytest.mark.parametrize("place", ["hdfs://nowhere:1/runs", "/nowhere/at/all"])
def test_a_folder_that_cannot_be_looked_into_completes_nothing(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("STREAMGAUGE_RUNS", place)
    assert complete_run("") == []


COMPLETED = """
import sys
from streamgauge.cli.commands import app
try:
    app(prog_name="streamgauge")
finally:
    heavy = {"pyarrow", "pyspark", "numpy"} & set(sys.modules)
    print("heavy:", *sorted(heavy))
"""


@pytest.mark.process
@pytest.mark.parametrize("words", ["results", "runs rm", "report", "run --resume"])
def test_the_shell_gets_them_without_anything_heavy(folder: Path, words: str) -> None:
    typed = f"streamgauge {words} 2026"
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETED],
        env={**os.environ, **asked, "_STREAMGAUGE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == [RUNS[1], RUNS[0], "heavy:"], done.stderr
