"""`--slo` of every command that measures."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.cli.slo import not_with_resume, with_objectives
from streamgauge.core.errors import BadInput
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

COMMANDS = {
    "e2e": "p99.99<900ms",
    "sweep": "rate>=95%",
    "limit": "p99<20ms",
    "compare": "ratio<105%",
    "transports": "p50<1ms",
    "fanout": "holds",
}
NEEDED = {"compare": ("--a", "kafka_confluent", "--b", "kafka_java")}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_objectives_on_its_own_figures(command: str) -> None:
    asked = [COMMANDS[command], "lost=0", "valid"]
    flags = [part for text in asked for part in ("--slo", text)]
    done = CliRunner().invoke(app, [command, *NEEDED.get(command, ()), *flags, "--print-workload"])
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(done.stdout)["objectives"] == asked


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_figure_of_it_is_refused_and_leaves_no_folder(command: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    done = CliRunner().invoke(
        app, [command, *NEEDED.get(command, ()), "--slo", "speed<1s", "--out", str(out)]
    )
    assert isinstance(done.exception, BadInput)
    [line] = str(done.exception).splitlines()
    assert line.startswith("--slo: 'speed<1s': there is no figure 'speed'; allowed: ")
    assert not out.exists()


def test_a_flag_takes_the_place_of_what_the_file_says_of_the_same_figure() -> None:
    content = {
        "targets": [{"name": "a", "driver": "simulated"}],
        "load": {"messages": 10},
        "objectives": ["p99<1s", "lost=0"],
    }
    workload = parse(Workload, content, "file")
    assert with_objectives(workload, None) is workload
    found = with_objectives(workload, ["p99<2ms", "valid"])
    assert [str(each) for each in found.objectives] == ["lost=0", "p99<2ms", "valid"]


def test_a_search_may_be_given_other_objectives_than_its_file_has() -> None:
    content = {
        "targets": [{"name": "a", "driver": "simulated"}],
        "load": {"duration": "2s"},
        "search": {"slo": ["p99<1s"]},
    }
    found = with_objectives(parse(Workload, content, "file"), ["p99<2ms"])
    assert [str(each) for each in found.search.slo] == ["p99<2ms"]  # type: ignore[attr-defined]


def test_a_run_that_is_resumed_keeps_its_own() -> None:
    not_with_resume(None)
    with pytest.raises(BadInput, match="keeps the objectives that it was begun with"):
        not_with_resume(["valid"])
