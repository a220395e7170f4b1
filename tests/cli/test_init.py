from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
import yaml
from typer.testing import CliRunner

from streamgauge.cli import init
from streamgauge.cli.commands import app
from streamgauge.cli.workload_commands import workload_families

FLAGS = {
    "e2e": ["--rate", "2k/s", "--duration", "30s", "--size", "1KiB"],
    "sweep": ["--partitions", "1,2,4", "--acks", "1,all", "--iterations", "2"],
    "limit": ["--slo", "p99<20ms", "--duration", "3s"],
    "compare": ["--a", "kafka_confluent", "--b", "kafka_python", "--size", "100", "--messages", "10"],
    "transports": ["--transport", "kafka", "--rate", "1k", "--duration", "6s", "--engine", "python"],
    "fanout": ["--clients", "100,200", "--duration", "10s", "--size", "512"],
}


def _printed(*arguments: str) -> object:
    told = CliRunner().invoke(app, list(arguments))
    assert told.exit_code == 0, told.output
    return yaml.safe_load(told.stdout)


def test_all_families_are_tried() -> None:
    assert set(FLAGS) == set(workload_families())


@pytest.mark.parametrize("kind", FLAGS)
def test_what_is_written_runs_and_means_what_the_flags_mean(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "it.yaml"
    told = CliRunner().invoke(app, ["init", kind, *FLAGS[kind], "--file", str(file)])
    assert told.exit_code == 0, (told.output, told.exception)
    assert f"streamgauge run {file}" in told.output
    text = file.read_text()
    assert text.startswith(f"# Made by: streamgauge init {kind} ")
    assert text.count("\n# ") + text.count(" # ") > 5
    assert _printed("run", str(file), "--print-workload") == _printed(kind, *FLAGS[kind], "--print-workload")


def test_a_file_that_is_there_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e2e.yaml").write_text("mine")
    told = CliRunner().invoke(app, ["init", "e2e"])
    assert "is there already" in str(told.exception)
    assert Path("e2e.yaml").read_text() == "mine"
    assert CliRunner().invoke(app, ["init", "e2e", "--force"]).exit_code == 0
    assert Path("e2e.yaml").read_text() != "mine"
    told = CliRunner().invoke(app, ["init", "e2e", "-o", "-"])
    assert yaml.safe_load(told.stdout)["kind"] == "e2e"


@pytest.mark.parametrize(
    ("arguments", "words"), [(["init"], "say what to measure"), (["init", "e2f"], "e2f is not known")]
)
def test_what_is_not_known_is_refused(arguments: list[str], words: str) -> None:
    told = CliRunner().invoke(app, arguments)
    assert words in str(told.exception)
    assert "sweep" in str(told.exception)


def test_a_wrong_flag_is_refused_and_an_older_one_is_not(tmp_path: Path) -> None:
    file = str(tmp_path / "it.yaml")
    assert CliRunner().invoke(app, ["init", "e2e", "--ratte", "5", "--file", file]).exit_code != 0
    told = CliRunner().invoke(app, ["init", "e2e", "--test-produce-rate", "500", "--file", file])
    assert told.exit_code == 0
    assert yaml.safe_load(Path(file).read_text())["load"]["rate"] == 500


def test_on_a_terminal_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind, then the words of the vocabulary; what is left as it is needs no flag."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    asked: list[str] = []

    def prompt(text: str, default: str | None = None, *, err: bool) -> str:
        assert err
        asked.append(text)
        answers = {"What": "limit", "--slo": "p99<5ms", "--size": "2KiB"}
        return next((answer for words, answer in answers.items() if text.startswith(words)), default or "")

    monkeypatch.setattr("typer.prompt", prompt)
    told = CliRunner().invoke(app, ["init"])
    assert told.exit_code == 0, (told.output, told.exception)
    made = yaml.safe_load(Path("limit.yaml").read_text())
    assert (made["kind"], made["load"]["message"]["size"]) == ("limit", 2048)
    assert any(text.startswith("--producers: ") for text in asked)
    assert not any(text.startswith("--bootstrap") for text in asked)


def test_questions_are_not_written_into_the_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    """streamgauge init e2e --file - > x.yaml, on a terminal."""
    monkeypatch.setattr(init, "_is_terminal", lambda: True)

    def prompt(text: str, default: str | None = None, *, err: bool) -> str:
        typer.echo(text, err=err)
        return default or ""

    monkeypatch.setattr("typer.prompt", prompt)
    told = CliRunner().invoke(app, ["init", "--file", "-"])
    assert told.exit_code == 0, (told.output, told.exception)
    assert yaml.safe_load(told.stdout)["kind"] == "e2e"
    assert "What do you want to measure?" in told.stderr


@pytest.mark.parametrize("away", ["stdin", "stderr"])
def test_where_nobody_sees_questions_none_is_asked(away: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{name}", SimpleNamespace(isatty=lambda name=name: name != away))
    assert not init._is_terminal()
