from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tags_of
from streamgauge.core.status import RunStatus, write_status
from streamgauge.exporting.bundle import MANIFEST
from streamgauge.report.write import write_report
from tests.report.sample_run import limit_run, single_run, sweep_run

from .streamgauge_command import in_process

ONE, SWEEP = "20260102-030405-end-to-end-ab12", "20260102-030406-sweep-cd34"
WIDE = {"COLUMNS": "400"}
"""With room for why, and the whole command that goes on."""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    single_run(tmp_path / "all" / ONE)
    sweep_run(tmp_path / "all" / SWEEP)
    return tmp_path / "all"


def rows(out: Path) -> dict[str, str]:
    """Of the list: run → its row."""
    done = in_process("runs", "--out", out, env=WIDE)
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: line for line in done.stdout.splitlines()[1:]}


def test_figures_and_verdicts_of_a_run_are_in_one_row(out: Path) -> None:
    """Also of one that has no report yet; what a run did not come to is not made up."""
    head = in_process("runs", "--out", out, env=WIDE).stdout.splitlines()[0].split()
    assert head == [
        *("run", "status", "target", "rate", "p50", "ms", "p99", "ms", "integrity", "validity", "cases"),
        *("age", "size", "why"),
    ]
    document = RunDir(str(out / ONE))
    fresh = rows(out)[ONE]
    write_report(document)
    figures = json.loads(document.read_text(document.results_document))["cases"][0]["latency_ms"]
    latency = figures["intended_to_received"]
    [name, status, target, rate, p50, p99, integrity, validity, *cases] = rows(out)[ONE].split()[:11]
    assert fresh.split()[:11] == rows(out)[ONE].split()[:11]
    assert (name, status, target, rate) == (ONE, "ok", "kafka", "1,000/s")
    assert (float(p50), float(p99)) == pytest.approx((latency["p50"], latency["p99"]), rel=1e-3)
    assert (integrity, validity, cases) == ("ok", "valid", ["1", "of", "1"])
    assert rows(out)[SWEEP].split()[1] == "partial"
    go_on = f"go on with: streamgauge run --resume {out / SWEEP}"
    assert f"case 003 broke off; {go_on}" in rows(out)[SWEEP]


def test_of_several_cases_the_least_and_the_most_are_told(tmp_path: Path) -> None:
    limit_run(tmp_path / "20260102-030405-limit-ab56")
    [row] = rows(tmp_path).values()
    assert "1,000/s–4,000/s" in row


def test_the_folder_is_remembered_by_the_environment(out: Path) -> None:
    assert ONE in in_process("runs", env={"STREAMGAUGE_RUNS": str(out)}).stdout
    assert f"no runs in {out}/x" in in_process("runs", "--out", f"{out}/x").stdout


def test_a_run_is_tagged_found_by_the_tag_and_listed_with_it(out: Path) -> None:
    done = in_process("runs", "tag", "20260102-030405", "main", "nightly", "--out", out)
    assert done.stdout == f"{ONE}: main, nightly\n"
    assert "main, nightly" in rows(out)[ONE]
    assert in_process("results", "main", "--out", out, "--json").returncode == 0
    assert in_process("runs", "--out", out, "tag", "main", "main", "--remove").stdout == f"{ONE}: nightly\n"
    refused = in_process("runs", "tag", ONE, "main", "--remove", "--out", out)
    assert refused.returncode == 2
    assert f"{ONE} has no tag main" in refused.stderr


def test_a_tag_that_is_none_is_refused(out: Path) -> None:
    refused = in_process("runs", "tag", ONE, "latest", "--out", out)
    assert refused.returncode == 2
    assert tags_of(RunDir(str(out / ONE))) == []


def test_runs_are_removed_when_that_is_meant(out: Path) -> None:
    asked = in_process("runs", "rm", ONE, "--out", out)
    assert asked.returncode != 0
    assert f"{out / ONE}" in asked.stderr
    assert (out / ONE).exists(), "nobody said yes"
    done = in_process("runs", "rm", ONE, ONE, "latest", "--yes", "--out", out)
    assert done.stdout == f"removed {ONE}\nremoved {SWEEP}\n"
    assert list(out.iterdir()) == []


def test_what_is_running_is_never_removed_nor_anything_beside_it(out: Path) -> None:
    write_status(RunDir(str(out / SWEEP)), RunStatus(status="running"))
    refused = in_process("runs", "rm", ONE, SWEEP, "--yes", "--out", out)
    assert refused.returncode == 2
    assert f"is in use, by process {os.getpid()}" in refused.stderr
    assert sorted(path.name for path in out.iterdir()) == [ONE, SWEEP]


def test_what_runs_on_another_host_is_not_removed(out: Path) -> None:
    status = asdict(RunStatus(status="running")) | {"host": "elsewhere", "pid": 1}
    RunDir(str(out / ONE)).write_json(RunDir.status, status)
    refused = in_process("runs", "rm", ONE, "--yes", "--out", out)
    assert "on elsewhere" in refused.stderr
    assert (out / ONE).exists()


def test_a_run_that_cannot_be_read_is_listed_and_can_be_removed(out: Path) -> None:
    (out / ONE / "status.json").write_text("half a fi")
    assert "corrupt" in rows(out)[ONE]
    assert in_process("runs", "rm", ONE, "--yes", "--out", out).returncode == 0
    assert not (out / ONE).exists()


def test_a_bundle_is_no_run_to_remove(out: Path) -> None:
    """It would be unpacked for that; and if its run is there already, that one would go."""
    file = out.parent / "run.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(MANIFEST, "{}")
    refused = in_process("runs", "rm", ONE, file, "--yes", "--out", out)
    assert refused.returncode == 2
    assert f"{file}: is a bundle" in refused.stderr
    assert sorted(path.name for path in out.iterdir()) == [ONE, SWEEP]
    assert file.exists()


def test_only_runs_are_removed(out: Path) -> None:
    (out / "precious").mkdir()
    refused = in_process("runs", "rm", out / "precious", "--yes")
    assert refused.returncode == 2
    assert (out / "precious").exists()
