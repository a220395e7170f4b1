"""A family that a third party ships: from YAML and from its command to HTML, with no other file changed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.streamgauge_command import command, one_run

from .installing import FAMILY, install_toy

LONGEST = 150
DEADLINE_S = 240

pytestmark = pytest.mark.spark


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    return install_toy(tmp_path / "site")


def streamgauge(installed: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        command(*arguments),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_it_is_as_short_as_it_should_be() -> None:
    assert len(FAMILY.read_text().splitlines()) <= LONGEST


def test_its_command_and_its_yaml_lead_to_a_page(installed: Path, tmp_path: Path) -> None:
    assert "Let a drummer beat." in streamgauge(installed, "--help").stdout
    printed = streamgauge(installed, "toy", "--beats", "7", "--print-workload")
    assert yaml.safe_load(printed.stdout)["drum"] == {"beats": 7}, printed.stderr
    file, out = tmp_path / "toy.yaml", tmp_path / "runs"
    file.write_text(printed.stdout.replace("kind: toy\n", ""))
    done = streamgauge(installed, "run", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "The drum" in done.stdout
    run = one_run(out)
    assert json.loads((run / "plan.json").read_text())["kind"] == "toy"
    [row] = json.loads((run / "results" / "results.json").read_text())["tempo"]
    assert (row["case"], row["beats"]) == ("001", 7)
    page = (run / "report" / "index.html").read_text()
    assert "The drum" in page
    assert "<td" in page
    assert (run / "report" / "csv" / "tempo.csv").read_text().startswith('"case","beats","took_ms"\n"001",7,')
    assert (run / "report" / "csv" / "drum.csv").read_text().startswith("case,beats,took,doubtful\n001,7,")


def test_what_is_wrong_with_its_workload_is_said_as_of_any_other(installed: Path, tmp_path: Path) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text("{kind: toy, targets: [{name: d, driver: simulated}], drum: {sticks: 2}}")
    told = streamgauge(installed, "run", file)
    assert (told.returncode, told.stderr) == (2, f"streamgauge: {file}: drum.sticks: unknown field\n")
