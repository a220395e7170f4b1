from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from streamgauge.cli import running
from streamgauge.cli.commands import app
from streamgauge.cli.run import run_command
from streamgauge.core.errors import BadInput
from streamgauge.spec.workload import Workload

CONTENT = {"name": "mine", "targets": [{"name": "sim", "driver": "simulated"}], "load": {"messages": 9}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "workload.yaml"
    written.write_text(yaml.safe_dump(CONTENT))
    return written


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was to be run, or resumed, and how."""
    found: list[Any] = []

    def run_or_print(workload: Workload, *, only_print: bool, out: str, **how: Any) -> int:
        found.append((workload.name, only_print, out, how["master"]))
        return 0

    def resume_run(location: str, **how: Any) -> int:
        found.append((location, how["quiet"]))
        return 3

    monkeypatch.setattr(running, "run_or_print", run_or_print)
    monkeypatch.setattr(running, "resume_run", resume_run)
    return found


def ended(*arguments: str) -> int:
    return CliRunner().invoke(app, ["run", *arguments]).exit_code


def test_a_file_is_loaded_and_run_as_the_flags_say(file: Path, asked: list[Any]) -> None:
    assert ended(str(file), "--out", "there", "--master", "local[2]") == 0
    assert ended(str(file), "--print-workload") == 0
    assert asked == [("mine", False, "there", "local[2]"), ("mine", True, "runs", None)]


def test_a_run_is_resumed_without_a_file(asked: list[Any]) -> None:
    assert ended("--resume", "old", "--quiet") == 3
    assert asked == [("old", True)]


@pytest.mark.parametrize("given", [{}, {"workload": Path("a.yaml"), "resume": "old"}])
def test_neither_or_both_is_refused(given: dict[str, Any], asked: list[Any]) -> None:
    defaults = {name: flag.default for name, flag in inspect.signature(run_command).parameters.items()}
    with pytest.raises(BadInput, match="give a workload, or --resume and a run"):
        run_command(**defaults | given)
    assert asked == []


def test_what_is_in_force_already_cannot_be_judged_anew(asked: list[Any]) -> None:
    defaults = {name: flag.default for name, flag in inspect.signature(run_command).parameters.items()}
    with pytest.raises(BadInput, match="--slo"):
        run_command(**defaults | {"resume": "old", "slo": ["p99<1ms"]})
    with pytest.raises(typer.Exit):
        run_command(**defaults | {"resume": "old"})
    assert asked == [("old", False)]
