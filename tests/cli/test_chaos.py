"""`streamgauge chaos`: the same faults for the same seed; what breaks is told as a workload to run again."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from streamgauge.cli import chaos
from streamgauge.cli.chaos_trials import FAILED, Promises, Trial
from streamgauge.core.errors import SystemFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.faults.random_schedule import DRAW, random_schedule
from streamgauge.plan.fault_file import read_faults
from streamgauge.spec.workload import Workload
from tests.proof import PROOF

from .streamgauge_command import in_process, one_run, streamgauge

LOST = frozenset({"lost_write"})


class Runs:
    """What would be run; it breaks whenever the culprit is among the faults, and later ends in an error.
    Without the culprit it breaks in other ways."""

    def __init__(
        self, culprit: float | None, error: Exception | None = None, otherwise: frozenset[str] = frozenset()
    ) -> None:
        self.culprit, self.error, self.faults = culprit, error, list[list[float]]()
        self.otherwise = otherwise

    def __call__(self, workload: Workload, **how: Any) -> Trial:
        faults = [fault.at for fault in workload.load.faults]  # type: ignore[attr-defined]
        self.faults.append(faults)
        if self.error is not None and len(self.faults) > 3:
            raise self.error
        is_broken = self.culprit is not None and self.culprit in faults
        broke = LOST if is_broken else self.otherwise
        return Trial(RunDir("r"), Promises.BROKEN if broke else Promises.KEPT, tuple(broke), broke)


def test_the_workload_of_a_seed_is_always_the_same_and_asks_for_every_promise() -> None:
    first, second = (
        in_process("chaos", "--seed", "5", flag, "2m", "--print-workload") for flag in ("--duration", "--for")
    )

    content = yaml.safe_load(first.stdout)
    assert first.stdout == second.stdout
    assert content["targets"][0]["producer_client"] == {"enable.idempotence": True}
    assert content["load"]["topics"]["config"] == {"min.insync.replicas": "2"}
    assert [fault["at"] for fault in content["load"]["faults"]] == [
        fault["at"] for fault in random_schedule(5, 120, 3, 3)
    ]


def test_promises_that_are_kept_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(None)
    monkeypatch.setattr(chaos, "_run", runs)

    done = in_process("chaos", "--seed", "5", "--for", "2m")

    assert done.returncode == 0
    assert f"seed 5 (draw {DRAW})" in done.stderr
    assert "every promise kept" in done.stderr
    assert len(runs.faults) == 1


def test_what_breaks_is_made_small_and_told_as_a_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    culprit = random_schedule(5, 300, 3, 3)[4]["at"]
    monkeypatch.setattr(chaos, "_run", Runs(culprit))

    done = in_process("chaos", "--seed", "5", "--for", "5m", "--shrink-runs", "40")

    assert done.returncode == 1
    assert [fault["at"] for fault in yaml.safe_load(done.stdout)["load"]["faults"]] == [culprit]


@pytest.mark.parametrize(
    ("otherwise", "left"), [(frozenset({FAILED}), 1), (LOST, 0)], ids=["another way", "the same way"]
)
def test_only_what_breaks_in_the_same_way_is_the_same(
    otherwise: frozenset[str], left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without any fault: then none is to blame."""
    culprit = random_schedule(5, 300, 3, 3)[4]["at"]
    monkeypatch.setattr(chaos, "_run", Runs(culprit, otherwise=otherwise))

    done = in_process("chaos", "--seed", "5", "--for", "5m", "--shrink-runs", "40")

    faults = yaml.safe_load(done.stdout)["load"].get("faults", [])
    assert [fault["at"] for fault in faults] == [culprit][:left]
    assert ("it breaks without any fault" in done.stderr) == (left == 0)
    assert "run once more, what is left broke again" in done.stderr


@pytest.mark.parametrize("most", range(5))
def test_no_more_runs_are_made_than_were_asked_for(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = random_schedule(5, 300, 3, 3)
    runs = Runs(schedule[4]["at"])
    monkeypatch.setattr(chaos, "_run", runs)

    done = in_process("chaos", "--seed", "5", "--for", "5m", "--shrink-runs", str(most))

    assert len(runs.faults) == 1 + most
    assert ("run once more" in done.stderr) == (most > 1)


def test_what_breaks_by_chance_is_said_to() -> None:
    trials = [Trial(RunDir("r"), Promises.KEPT), Trial(RunDir("r"), Promises.KEPT)]
    first = Trial(RunDir("r"), Promises.BROKEN, ("1 lost write",), LOST)
    told = io.StringIO()

    with redirect_stderr(told), redirect_stdout(io.StringIO()):
        chaos._shrink([{"at": 1}], first, lambda faults: trials.pop(), 12, str)

    assert "did not break: chance has a part" in told.getvalue()


def test_what_nobody_can_decide_is_neither_kept_nor_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "link_cut at 8.5 s: it was not done"
    unsure = Trial(RunDir("runs/20300101-r"), Promises.NOT_DECIDABLE, (why,))
    monkeypatch.setattr(chaos, "_run", lambda workload, **how: unsure)

    done = in_process("chaos", "--seed", "5", "--for", "2m")

    assert done.returncode == 5
    assert "not decidable in run 20300101-r" in done.stderr
    assert why in done.stderr
    assert "kept" not in done.stderr


@pytest.mark.parametrize(
    ("error", "code"), [(SystemFailed("broker-2 did not start"), 1), (typer.Exit(130), 130)]
)
def test_a_run_that_cannot_be_made_loses_nothing_of_what_was_found(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = random_schedule(5, 300, 3, 3)
    culprit = schedule[-1]["at"]
    runs = Runs(culprit, error)
    monkeypatch.setattr(chaos, "_run", runs)

    done = in_process("chaos", "--seed", "5", "--for", "5m", "--shrink-runs", "40")

    left = [fault["at"] for fault in yaml.safe_load(done.stdout)["load"]["faults"]]
    assert done.returncode == code
    assert left == [faults for faults in runs.faults[:3] if culprit in faults][-1]
    assert len(left) < len(schedule)
    assert ("broker-2 did not start" in done.stderr) == (code == 1)


def test_it_draws_from_the_kinds_that_it_is_told() -> None:
    done = in_process("chaos", "--for", "5m", "--kinds", "link_cut, disk_slow", "--print-workload")

    kinds = {fault["kind"] for fault in yaml.safe_load(done.stdout)["load"]["faults"]}
    assert kinds == {"link_cut", "disk_slow"}


@pytest.mark.skipif(not PROOF, reason="`make proof` makes a short run")
@pytest.mark.proof
@pytest.mark.broker
@pytest.mark.spark
def test_a_short_run_on_a_cut_link_and_a_slow_disk_keeps_every_promise(tmp_path: Path) -> None:
    flags = ("--seed", "138", "--for", "40s", "--rate", "500/s", "--out", tmp_path)
    done = streamgauge("chaos", *flags, deadline_s=900)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "every promise kept" in done.stderr
    [faults] = read_faults(RunDir(str(one_run(tmp_path)))).values()
    assert [fault.kind for fault in faults] == [one["kind"] for one in random_schedule(138, 40, 3, 3)]
    assert all(fault.done_ns and fault.ended_ns and not fault.problem for fault in faults)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--brokers", "1"), "allowed: 3, 5"),
        (("--for", "10s"), "there is no time for a fault"),
        (("--kinds", "broker_kill,earthquake"), "--kinds earthquake: allowed: broker_kill,"),
    ],
)
def test_what_cannot_be_is_refused(flags: tuple[str, ...], words: str) -> None:
    done = in_process("chaos", *flags)

    assert done.returncode == 2
    assert words in done.stderr
