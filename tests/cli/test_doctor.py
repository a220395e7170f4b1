from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from streamgauge.cli import health_checks
from streamgauge.cli.commands import app
from streamgauge.cli.doctor import lines_of, noise_finding
from streamgauge.cli.health_checks import Finding, Health
from streamgauge.cli.machine_noise import Noise

GOOD = Finding("clock", Health.GOOD, "source tsc")
BAD = Finding("java", Health.BAD, "no Java found", "install Java 17 or newer")


@pytest.mark.parametrize(("found", "code"), [([GOOD], 0), ([GOOD, BAD], 1)])
def test_the_exit_code_says_whether_one_can_begin(
    found: list[Finding], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_checks, "findings", lambda out: iter(found))
    told = CliRunner().invoke(app, ["doctor", "--rounds", "0"])
    assert told.exit_code == code
    assert "ok clock        source tsc" in told.output


def test_as_json_it_has_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_checks, "findings", lambda out: iter([GOOD]))
    told = CliRunner().invoke(app, ["doctor", "--rounds", "2", "--json"])
    document = json.loads(told.output)
    assert [found["check"] for found in document["findings"]] == ["clock", "runs", "noise"]
    assert document["findings"][0]["health"] == "good"
    assert document["noise"]["detectable_percent"] >= 0
    assert document["runs"]["detectable_p99_percent"] > document["runs"]["detectable_p50_percent"] > 0


def test_what_cannot_be_seen_here() -> None:
    quiet = Noise(40, 5.0, 6.4, 4.0, 0.1)
    found = noise_finding(quiet)
    assert found.health is Health.GOOD
    assert found.text.startswith("differences below 4.0% cannot be seen here, ")
    assert "work of 5 ms in one process" in found.text, "it is said what it is of"
    assert found.text.endswith("Whole runs are apart by more: see runs")
    loud = noise_finding(Noise(40, 5.0, 60, 30.0, 0.1))
    assert loud.health is Health.DOUBTFUL
    lines = [line.plain for line in lines_of(loud)]
    assert lines[0].startswith("?  noise        differences below 30.0%")
    assert max(map(len, lines)) <= 80
    assert any(line.strip().startswith("→ stop what else runs here") for line in lines)
