from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from streamgauge.cli import running
from streamgauge.cli.run import run_command
from streamgauge.cli.run_flags import with_run_flags
from streamgauge.families.e2e.workload import EndToEndWorkload
from streamgauge.flags.asked import Asked
from streamgauge.spec.families import family_of
from streamgauge.spec.workload import Workload

CONTENT = {"targets": [{"name": "sim", "driver": "simulated"}], "load": {"messages": 9}}


def make(name: str = "flags") -> EndToEndWorkload:
    return EndToEndWorkload.model_validate({**CONTENT, "name": name})


def ask(name: str = "asked") -> Asked:
    return Asked(make(name), ("one is left out",), 2)


def other(name: str = "x") -> None: ...


def flags(kind: str, command: Any) -> set[str]:
    return set(inspect.signature(with_run_flags(family_of(kind), command)).parameters)


def test_a_command_has_its_own_flags_and_those_of_every_run() -> None:
    found = flags("e2e", make)
    assert {"name", "out", "master", "resume", "live", "print_workload", "quiet", "debug"} <= found


@pytest.mark.parametrize(("kind", "missing"), [("compare", {"resume", "live"}), ("fanout", {"live"})])
def test_what_a_family_cannot_do_is_no_flag(kind: str, missing: set[str]) -> None:
    assert not missing & flags(kind, make)


def test_a_command_that_makes_no_workload_is_left_as_it_is() -> None:
    assert with_run_flags(family_of("e2e"), other) is other


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Workload, bool]]:
    runs: list[tuple[Workload, bool]] = []

    def run_or_print(workload: Workload, *, only_print: bool, **how: object) -> int:
        runs.append((workload, only_print))
        return 0

    monkeypatch.setattr(running, "run_or_print", run_or_print)
    return runs


def test_what_the_flags_make_is_run(run: list[tuple[Workload, bool]]) -> None:
    with pytest.raises(typer.Exit) as ended:
        with_run_flags(family_of("e2e"), make)(name="mine")
    assert ended.value.exit_code == 0
    assert run == [(make("mine"), False)]


def test_notes_are_told_and_what_was_left_out_shows_in_the_exit_code(
    run: list[tuple[Workload, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        with_run_flags(family_of("e2e"), ask)(name="mine")
    assert ended.value.exit_code == 2
    assert "one is left out" in capsys.readouterr().err
    with pytest.raises(typer.Exit) as ended:
        with_run_flags(family_of("e2e"), ask)(name="mine", print_workload=True)
    assert ended.value.exit_code == 0
    assert capsys.readouterr().err == ""


def test_a_run_is_resumed_without_asking_the_family(
    run: list[tuple[Workload, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "resume_run", lambda location, **how: 7 if location == "old" else 0)
    with pytest.raises(typer.Exit) as ended:
        with_run_flags(family_of("e2e"), make)(name="no name at all: it would be refused", resume="old")
    assert ended.value.exit_code == 7
    assert run == []


def test_what_is_known_of_a_workload_beforehand_is_told_however_it_was_given(
    run: list[tuple[Workload, bool]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As `run` of a file does, of which no command made the workload."""
    sides = [{"name": name, "driver": "simulated"} for name in ("a", "b")]
    content = {"kind": "compare", "targets": sides, "comparison": {"repeat": 6}}
    file = tmp_path / "compare.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(typer.Exit):
        run_command(workload=file, omb_driver=None, resume=None)
    assert "6 repetitions cannot show a difference" in capsys.readouterr().err
    with pytest.raises(typer.Exit):
        run_command(workload=file, omb_driver=None, resume=None, quiet=True)
    assert capsys.readouterr().err == ""
    assert len(run) == 2
