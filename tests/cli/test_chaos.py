"""`streamgauge chaos`: the same faults for the same seed; what breaks is told as a workload to run again."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from streamgauge.cli import chaos
from streamgauge.core.findings import CaseVerification, Finding, FindingKind, Verification
from streamgauge.faults.random_schedule import random_schedule
from streamgauge.spec.workload import Workload

from .streamgauge_command import in_process

LOST = CaseVerification(case="001", findings=(Finding(kind=FindingKind.LOST_WRITE, count=1),))


class Runs:
    """What would be run; it breaks whenever the culprit is among the faults."""

    def __init__(self, culprit: float | None) -> None:
        self.culprit, self.faults = culprit, list[list[float]]()

    def __call__(self, workload: Workload, **how: Any) -> Verification:
        faults = [fault.at for fault in workload.load.faults]  # type: ignore[attr-defined]
        self.faults.append(faults)
        is_broken = self.culprit is not None and self.culprit in faults
        return Verification(run="r", cases=(LOST if is_broken else CaseVerification(case="001"),))


def test_the_workload_of_a_seed_is_always_the_same_and_asks_for_every_promise() -> None:
    first, second = (in_process("chaos", "--seed", "5", "--for", "2m", "--print-workload") for _ in range(2))

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
    assert "every promise kept" in done.stderr
    assert len(runs.faults) == 1


def test_a_run_that_did_not_end_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "what was not recorded: the case did not end as planned (a broker)"
    cut_off = CaseVerification(case="001", acked=5, is_decided=False, not_checked=(why,))
    monkeypatch.setattr(chaos, "_run", lambda workload, **how: Verification(run="r", cases=(cut_off,)))

    done = in_process("chaos", "--seed", "5", "--for", "2m")

    assert done.returncode == 5
    assert why in done.stderr


def test_what_breaks_is_made_small_and_told_as_a_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    culprit = random_schedule(5, 300, 3, 3)[4]["at"]
    monkeypatch.setattr(chaos, "_run", Runs(culprit))

    done = in_process("chaos", "--seed", "5", "--for", "5m", "--shrink-runs", "40")

    assert done.returncode == 1
    assert [fault["at"] for fault in yaml.safe_load(done.stdout)["load"]["faults"]] == [culprit]


@pytest.mark.parametrize(
    ("flags", "words"),
    [(("--brokers", "1"), "allowed: 3, 5"), (("--for", "10s"), "there is no time for a fault")],
)
def test_what_cannot_be_is_refused(flags: tuple[str, ...], words: str) -> None:
    done = in_process("chaos", *flags)

    assert done.returncode == 2
    assert words in done.stderr
