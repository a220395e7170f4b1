"""A search for a limit that is known: killed in the middle, resumed, and told in every form."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, agents_and_brokers, command, in_process, one_run

KNEE_PER_S = 3210.0
KILLED_AFTER = 3
SLO = ("--slo", "p99<20ms", "--slo", "lost=0")


def target(folder: Path, **settings: Any) -> Path:
    file = folder / "target.yaml"
    file.write_text(yaml.safe_dump({"name": "sim", "driver": "simulated", "settings": settings}))
    return file


@pytest.fixture(scope="module")
def searched(run_here: Streamgauge, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The run folder, and what was said before it was killed and after it was resumed."""
    folder = tmp_path_factory.mktemp("limit")
    latency = {"law": "lognormal", "median_ms": 2.0, "sigma": 0.3}
    flags = (
        *("--target", target(folder, capacity_per_s=KNEE_PER_S, latency=latency)),
        *("--from", "2k/s", "--within", "10", "--step-time", "500ms"),
    )
    said = folder / "said.txt"
    with said.open("w") as errors:
        process = subprocess.Popen(
            command("limit", *SLO, *flags, "--out", folder / "runs"), stderr=errors, stdout=errors
        )
        end = time.monotonic() + 120
        while said.read_text().count("\ncase ") < KILLED_AFTER and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    run = one_run(folder / "runs")
    while agents_and_brokers(run) and time.monotonic() < end + 20:
        time.sleep(0.1)
    done = run_here("limit", "--resume", run)
    assert done.returncode == 0, done.stderr
    return run, said.read_text(), done.stderr + done.stdout


@pytest.fixture(scope="module")
def document(searched: tuple[Path, str, str]) -> dict[str, Any]:
    return json.loads((searched[0] / "results" / "results.json").read_text())


@pytest.mark.spark
def test_the_knee_is_found(document: dict[str, Any]) -> None:
    jsonschema.validate(document, results_schema())
    limit = document["limit"]
    assert document["status"] == "ok"
    assert limit["held_per_s"] == pytest.approx(KNEE_PER_S, rel=0.05)
    # To a hundredth is asked of the search itself, by laws (test_rate_search).
    assert limit["held_per_s"] < limit["broken_per_s"] <= 1.101 * limit["held_per_s"]
    assert limit["ending"] == "found"
    assert limit["slo"] == ["p99<20ms", "lost=0"]


@pytest.mark.spark
def test_every_step_was_verified_by_a_repeat(document: dict[str, Any]) -> None:
    for step in document["limit"]["steps"]:
        assert len(step["trials"]) in (2, 3)
        assert [trial["holds"] for trial in step["trials"]].count(step["holds"]) >= 2
        assert all(bool(trial["missed"]) != trial["holds"] for trial in step["trials"])
        assert {trial["outcome"] for trial in step["trials"]} <= {"met", "missed"}, "steps of half a second"


@pytest.mark.spark
def test_who_was_the_limit_is_named(document: dict[str, Any]) -> None:
    bottleneck = document["limit"]["bottleneck"]
    assert bottleneck["limit"] == "broker"
    assert bottleneck["cause"]["code"].startswith("waited_behind")
    lowest = min(s["rate_per_s"] for s in document["limit"]["steps"] if not s["holds"])
    [case] = [case for case in document["cases"] if case["case"] == bottleneck["case"]]
    assert case["parameters"]["rate"] == lowest


@pytest.mark.spark
def test_no_step_is_run_twice_when_it_is_resumed(
    searched: tuple[Path, str, str], document: dict[str, Any]
) -> None:
    _, before, after = searched
    judged = [line.split()[1] for line in (before + after).splitlines() if line.startswith("case ")]
    # One that ended as the run was killed is judged afterwards, from its events.
    assert judged == [f"{number:03d}" for number in range(1, len(document["cases"]) + 1)]
    assert f"run {searched[0].name}: " in after
    assert document["environment"]["resumed"][0]["after_cases"] >= KILLED_AFTER


@pytest.mark.spark
def test_the_answer_is_on_the_console_and_in_every_file(
    searched: tuple[Path, str, str], document: dict[str, Any]
) -> None:
    run, _, said = searched
    held = f"{document['limit']['held_per_s']:,.0f}"
    assert f"{held}/s hold p99<20ms and lost=0" in said
    assert "Bottleneck: broker" in said
    with (run / "report" / "csv" / "limit.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == len(document["cases"])
    assert (
        max(float(row["rate_per_s"]) for row in rows if row["holds"] == "true")
        == document["limit"]["held_per_s"]
    )
    page = (run / "report" / "index.html").read_text()
    assert "Latency by rate" in page
    assert f"{held}" in page
    asked = in_process("results", run, "--json")
    assert json.loads(asked.stdout)["limit"] == document["limit"]


@pytest.mark.spark
def test_the_time_limit_ends_it_with_what_is_known(run_here: Streamgauge, tmp_path: Path) -> None:
    flags = ("--target", target(tmp_path), "--step-time", "500ms", "--time-limit", "4s")
    done = run_here("limit", "--slo", "p99<20ms", *flags, "--out", tmp_path / "runs")
    limit = json.loads((one_run(tmp_path / "runs") / "results" / "results.json").read_text())["limit"]
    assert limit["ending"] == "time"
    assert limit["broken_per_s"] is None
    assert "Ended: the time was up." in done.stdout


@pytest.mark.spark
def test_when_no_rate_holds_the_run_has_failed(run_here: Streamgauge, tmp_path: Path) -> None:
    flags = ("--target", target(tmp_path, loss=0.2), "--step-time", "1s", "--from", "200")
    done = run_here("limit", "--slo", "lost=0", *flags, "--out", tmp_path / "runs")
    assert done.returncode == 1
    assert "No rate that was tried holds lost=0" in done.stdout
    document = json.loads((one_run(tmp_path / "runs") / "results" / "results.json").read_text())
    assert (document["status"], document["limit"]["ending"]) == ("failed", "none held")


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ((), "say what is to hold, as in --slo 'p99<20ms' --slo lost=0"),
        (("--slo", "p99"), "'p99' is not an objective: p99 needs a bound; as in p99<20ms, lost=0 or valid"),
        (("--slo", "p99<20"), "'20' has no unit"),
        (("--slo", "speed<20ms"), "there is no figure 'speed'"),
        (("--slo", "p99<1s", "--from", "5k/s", "--to", "1k/s"), "is above the highest rate"),
        (("--slo", "p99<1s", "--factor", "1"), "search.factor"),
        (("--slo", "p99<1s", "--consumers", "0"), "consumers"),
        (("--slo", "p99<1s", "--replicas", "3"), "3 replicas need as many brokers"),
        (("--resume", "runs/nothing"), "runs/nothing: no such run folder"),
    ],
)
def test_bad_input_is_one_clear_line(flags: tuple[str, ...], why: str, tmp_path: Path) -> None:
    done = in_process("limit", *flags, "--out", "runs", cwd=tmp_path)
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_workload_is_shown(tmp_path: Path) -> None:
    done = in_process("limit", *SLO, "--print-workload", cwd=tmp_path)
    workload = yaml.safe_load(done.stdout)
    assert workload["objectives"] == ["p99<20ms", "lost=0"]
    assert workload["load"]["duration"] == 5.0
