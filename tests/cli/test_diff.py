from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.comparing.simulated_pairs import simulated

from .streamgauge_command import in_process

BASE, SAME, SLOW = (f"2026010{day}-000000-sim-0001" for day in (1, 2, 3))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, median_ms, seed in ((BASE, 1.0, 1), (SAME, 1.0, 2), (SLOW, 1.5, 3)):
        simulated(folder, median_ms, seed=seed, name=name)
    return folder


def test_runs_are_found_and_compared(out: Path) -> None:
    done = in_process("diff", "latest~2", "latest", "--out", out, env={"COLUMNS": "160"})
    assert done.returncode == 0, done.stderr
    assert f"Run {BASE}" in done.stdout
    assert "SLOWER" in done.stdout


def test_json_and_markdown_and_a_page(out: Path, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "diff.html"
    done = in_process("diff", BASE, SAME, SLOW, "--json", "--html", page, "--out", out)
    document = json.loads(done.stdout)
    assert [each["runs"] for each in document["differences"]] == [[SAME], [SLOW]]
    assert document["differences"][0]["cases"][0]["metrics"][0]["verdict"] == "no_difference_seen"
    assert document["differences"][1]["cases"][0]["metrics"][0]["verdict"] == "slower"
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert f"page: {page}" in done.stderr
    assert in_process("diff", BASE, SLOW, "--markdown", "--out", out).stdout.startswith(f"# {BASE} against")


def test_repeats_have_a_comma_between(out: Path) -> None:
    document = json.loads(in_process("diff", f"{BASE},{SAME}", SLOW, "--json", "--out", out).stdout)
    assert document["base"] == [BASE, SAME]
    assert document["differences"][0]["cases"][0]["base"]["cases"] == [f"{BASE}/001", f"{SAME}/001"]


def test_a_history_of_one_run_is_of_its_workload_up_to_it(out: Path) -> None:
    document = json.loads(in_process("diff", "--history", SAME, "--json", "--out", out).stdout)
    assert (document["kind"], document["runs"]) == ("history", [BASE, SAME])
    several = json.loads(in_process("diff", "--history", BASE, SLOW, "--json", "--out", out).stdout)
    assert several["runs"] == [BASE, SLOW]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((BASE,), "give a base and at least one other run"),
        ((BASE, ","), "',' names no run"),
        ((BASE, "nothing"), "nothing: no such run folder"),
        ((BASE, SAME, "--json", "--markdown"), "--json and --markdown"),
    ],
)
def test_what_cannot_be_compared_is_refused(out: Path, given: tuple[str, ...], words: str) -> None:
    done = in_process("diff", *given, "--out", out)
    assert done.returncode == 2
    assert words in done.stderr
