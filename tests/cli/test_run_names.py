from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


def typed(parent: Any = None, **params: str) -> Any:
    """A command of which that much has been typed."""
    source = SimpleNamespace(name="COMMANDLINE")
    return SimpleNamespace(
        params=params, parent=parent, get_parameter_source=lambda name: source if name in params else None
    )


def test_names_tags_and_latest_complete_a_run(folder: Path) -> None:
    assert complete_run(typed(), "") == ["latest", "main", RUNS[1], RUNS[0]]
    assert complete_run(typed(), "20260102") == [RUNS[1]]
    assert complete_run(typed(), "m") == ["main"]
    assert complete_run(typed(), "./") == []


def test_names_are_those_of_the_folder_that_was_typed(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "20260104-elsewhere").mkdir(parents=True)
    (other / "20260104-elsewhere" / "plan.json").write_text("{}")
    assert complete_run(typed(out=str(other)), "2") == ["20260104-elsewhere"]
    below = typed(parent=typed(out=str(other)))
    assert complete_run(below, "2") == ["20260104-elsewhere"]


@pytest.mark.parametrize("place", ["hdfs://nowhere:1/runs", "/nowhere/at/all"])
def test_a_folder_that_cannot_be_looked_into_completes_nothing(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("STREAMGAUGE_RUNS", place)
    assert complete_run(typed(), "") == []


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
@pytest.mark.parametrize(
    "words", ["results", "runs rm", "report", "run --resume", "results --out {}", "runs --out {} rm"]
)
def test_the_shell_gets_them_without_anything_heavy(
    folder: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"streamgauge {words.format(folder)} 2026"
    if "{}" in words:
        monkeypatch.setenv("STREAMGAUGE_RUNS", str(folder / "elsewhere"))
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETED],
        env={**os.environ, **asked, "_STREAMGAUGE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == [RUNS[1], RUNS[0], "heavy:"], done.stderr
