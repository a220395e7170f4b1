from __future__ import annotations

import json
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from streamgauge.cli import health_checks
from streamgauge.cli.commands import app
from streamgauge.cli.health_checks import CHECKS, Finding, Health, findings
from streamgauge.core.errors import StreamgaugeError


def test_every_check_says_something_here() -> None:
    found = list(findings("runs"))
    assert len(found) == len(CHECKS) + 1
    assert all(finding.text for finding in found)
    # What is not good says what to do, unless nothing can be known.
    assert all(finding.advice for finding in found if finding.health is Health.BAD)


def test_a_check_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Finding:
        raise OSError("no such place")

    monkeypatch.setattr(health_checks, "CHECKS", (broken,))
    found = next(findings("runs"))
    assert found.health is Health.DOUBTFUL
    assert "no such place" in found.text


def test_without_java_nothing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise StreamgaugeError("no Java found")

    monkeypatch.setattr("streamgauge.jvm.java.find_java", none)
    found = health_checks.java()
    assert (found.health, found.text) == (Health.BAD, "no Java found")


def test_missing_jars_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge.jvm.jars.cached_jars", lambda but_not: {})
    found = health_checks.jars()
    assert found.health is Health.DOUBTFUL
    assert "jars of the embedded Kafka are not in the cache yet" in found.text


@pytest.mark.parametrize(
    ("hard", "health"),
    [
        (100, Health.BAD),
        (4096, Health.DOUBTFUL),
        (65_536, Health.GOOD),
        (resource.RLIM_INFINITY, Health.GOOD),
    ],
)
def test_open_files(hard: int, health: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (hard, hard))
    assert health_checks.open_files().health is health


@pytest.mark.parametrize(
    ("source", "health"), [("tsc", Health.GOOD), ("hpet", Health.DOUBTFUL), (None, Health.DOUBTFUL)]
)
def test_the_clock(source: str | None, health: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_checks, "_read", lambda _: source)
    assert health_checks.clock().health is health


def disk() -> Finding:
    return health_checks.disk("runs")


def test_the_disk_is_the_one_that_runs_go_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, asked = tmp_path / "mount" / "not" / "there", list[str]()
    runs.parents[1].mkdir()

    def usage(folder: str) -> SimpleNamespace:
        asked.append(folder)
        return SimpleNamespace(free=1 if folder == str(runs.parents[1]) else 2**40)

    monkeypatch.setattr("shutil.disk_usage", usage)
    found = health_checks.disk(str(runs))
    assert found.text.endswith(f"free in {runs.parents[1]}")
    asked.clear()
    assert health_checks.disk("s3a://bucket/runs").health is Health.GOOD
    assert asked == [tempfile.gettempdir()]
    monkeypatch.setenv("STREAMGAUGE_RUNS", str(runs))
    told = CliRunner().invoke(app, ["doctor", "--rounds", "0", "--json"])
    [of_disk] = [each for each in json.loads(told.output)["findings"] if each["check"] == "disk"]
    assert of_disk["text"].endswith(f"free in {runs.parents[1]}")


@pytest.mark.parametrize(
    ("check", "patched", "value", "health"),
    [
        (disk, "shutil.disk_usage", SimpleNamespace(free=2**20), Health.BAD),
        (disk, "shutil.disk_usage", SimpleNamespace(free=2**31), Health.DOUBTFUL),
        (disk, "shutil.disk_usage", SimpleNamespace(free=2**40), Health.GOOD),
        (health_checks.memory, "psutil.virtual_memory", SimpleNamespace(available=2**20), Health.DOUBTFUL),
        (health_checks.load, "os.getloadavg", (1000.0, 0, 0), Health.DOUBTFUL),
        (health_checks.load, "os.getloadavg", (0.0, 0, 0), Health.GOOD),
    ],
)
def test_what_is_short_is_said(
    check: Callable[[], Finding], patched: str, value: object, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patched, lambda *_: value)
    assert check().health is health


def test_a_narrow_range_of_ports_is_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_checks, "_port_range", lambda: (50_000, 50_100))
    found = health_checks.ports()
    assert found.health is Health.DOUBTFUL
    assert "101 for connections" in found.text


def test_governors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "glob", lambda *_: [tmp_path / "one", tmp_path / "two"])
    for words, health in (("performance", Health.GOOD), ("powersave", Health.DOUBTFUL)):
        for name in ("one", "two"):
            (tmp_path / name).write_text(f"{words}\n")
        assert health_checks.governor().health is health
