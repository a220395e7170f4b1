from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from tests.comparing.simulated_pairs import simulated

from .streamgauge_command import in_process

BASE, NEW = (f"2026010{day}-000000-sim-0001" for day in (1, 2))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    simulated(folder, 1.0, seed=1, name=BASE)
    simulated(folder, 1.5, seed=2, name=NEW)
    return folder


@pytest.mark.parametrize(
    ("expected", "code", "word"),
    [
        ("objectives: [p50<1s, valid]", 0, "PASS"),
        ("objectives: [p50<1us]", 1, "FAIL"),
        ("objectives: [p99.99<1s]", 5, "INCONCLUSIVE"),
        ("baseline: [p50<110%]", 1, "FAIL"),
        ("baseline: [p50<300%]", 0, "PASS"),
        ("baseline: [p50<150%]", 5, "INCONCLUSIVE"),
    ],
)
def test_the_exit_code_says_what_came_of_it(
    out: Path, tmp_path: Path, expected: str, code: int, word: str
) -> None:
    file, junit, summary = tmp_path / "e.yaml", tmp_path / "deep" / "junit.xml", tmp_path / "summary.md"
    file.write_text(expected)
    files = ("--junit", junit, "--markdown", summary)
    baseline = ("--baseline", BASE) if expected.startswith("baseline") else ()
    done = in_process("check", "latest", "--expect", file, *baseline, "--out", out, *files)
    assert (done.returncode, done.stderr) == (code, "")
    assert word in done.stdout
    assert Xml.fromstring(junit.read_text("utf-8")).get("name") == "streamgauge check"
    assert summary.read_text("utf-8").startswith(f"# sim: {word.lower()}")


def test_json_is_for_programs(out: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("objectives: [p50<1us]")
    done = in_process("check", NEW, "--expect", file, "--json", "--out", out)
    found = json.loads(done.stdout)
    assert (found["kind"], found["run"], found["outcome"], done.returncode) == ("check", NEW, "missed", 1)


def test_a_baseline_and_what_is_expected_of_it_come_together(out: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("baseline: [p50<110%]")
    done = in_process("check", NEW, "--expect", file, "--out", out)
    assert done.returncode == 2
    assert "--baseline" in done.stderr
    file.write_text("objectives: [p50<1s]")
    unasked = in_process("check", NEW, "--expect", file, "--baseline", BASE, "--out", out)
    assert (unasked.returncode, unasked.stdout) == (2, ""), (
        "it would have passed without a look at the baseline"
    )
    assert "add baseline: [p99<120%]" in unasked.stderr
    missing = in_process("check", NEW, "--expect", tmp_path / "none.yaml", "--out", out)
    assert missing.returncode == 2
    assert "none.yaml: cannot be read" in missing.stderr
