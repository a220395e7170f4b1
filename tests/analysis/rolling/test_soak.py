"""Runs whose events are more than asked for, from workload to report: rolled up, and all accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamgauge.analysis.rolling import beside
from streamgauge.analysis.rolling.files import raw_bytes
from streamgauge.analysis.rolling.process import Rolling
from streamgauge.core.clock import now_ns
from streamgauge.core.memory import ANALYSING
from streamgauge.core.run_dir import RunDir
from tests.cli.streamgauge_command import Streamgauge, one_run, streamgauge
from tests.proof import PROOF

pytestmark = pytest.mark.spark

MIB, GIB = 1024**2, 1024**3
_RUN_DEADLINE_S = 1200.0


def soak(target: dict[str, Any], **load: Any) -> dict[str, Any]:
    usual = {"message": {"size": 100}, "warm_up_messages": 0}
    return {"kind": "e2e", "name": "soak", "targets": [target], "load": usual | load}


def case_of(run: Path) -> dict[str, Any]:
    [case] = json.loads((run / "results" / "results.json").read_text())["cases"]
    found: dict[str, Any] = case
    return found


def check_all_accounted_for(case: dict[str, Any], messages: int) -> None:
    told = case["accounting"]
    assert [told[name] for name in ("sent", "acked", "received")] == [messages] * 3
    verified = case["verification"]
    assert (verified["acked"], verified["received"], verified["findings"]) == (messages, messages, [])


def roll_up_here(self: beside._Beside) -> str:
    """As its process does, and once more of what was written last."""
    rolling = Rolling(self._run, self._case.id)
    while not self._over.wait(0.1):
        rolling.look(now_ns())
    rolling.look(now_ns())
    return "ended"


def test_a_run_past_its_limit_is_rolled_up_while_it_runs_and_every_message_counts(
    run_here: Streamgauge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else a busy machine may not let a process of the lowest priority begin before the case is over.
    monkeypatch.setattr(beside, "LOOK_S", 0.1)
    monkeypatch.setattr(beside._Beside, "_until_it_ends", roll_up_here)
    target = {"name": "sim", "driver": "simulated", "settings": {"time": "real"}}
    recording = {"raw_limit": "64KiB", "raw_last": "100ms"}
    file = tmp_path / "soak.yaml"
    file.write_text(yaml.safe_dump(soak(target, duration="10s", rate="10k/s", recording=recording)))

    done = run_here("run", file, "--out", tmp_path / "runs")

    assert done.returncode == 0, done.stdout + done.stderr
    run = one_run(tmp_path / "runs")
    case = case_of(run)
    check_all_accounted_for(case, 100_000)
    assert 50_000 <= case["verification"]["rolled_up"] < 100_000
    assert raw_bytes(RunDir(str(run)), case["verification"]["case"]) < 256 * 1024


@pytest.mark.skipif(not PROOF, reason="`make proof` runs for five minutes on a broker")
@pytest.mark.proof
@pytest.mark.broker
@pytest.mark.timeout(2 * _RUN_DEADLINE_S)
def test_five_minutes_on_a_broker_stay_small_on_disk_and_in_memory(tmp_path: Path) -> None:
    check_soak(tmp_path, minutes=5, limit=2 * MIB)


def check_soak(folder: Path, minutes: float, limit: int) -> None:
    messages = int(minutes * 60) * 10_000
    target = {"name": "kafka", "driver": "kafka_confluent", "system": {"kind": "kafka_cluster", "brokers": 1}}
    recording = {"raw_limit": limit, "raw_last": "15s"}
    workload = soak(target, duration=minutes * 60, rate="10k/s", acks="all", recording=recording)
    file = folder / "soak.yaml"
    file.write_text(yaml.safe_dump(workload))

    done = streamgauge("run", file, "--out", folder / "runs", deadline_s=_RUN_DEADLINE_S)

    assert done.returncode == 0, done.stdout + done.stderr
    run = RunDir(str(one_run(folder / "runs")))
    case = case_of(Path(run.location))
    check_all_accounted_for(case, messages)
    assert case["verification"]["rolled_up"] >= messages / 2
    # Without it they are 17 MB: 6 bytes a message. What is young is beyond the limit.
    assert raw_bytes(run, case["verification"]["case"]) < limit + 60 * 10_000 * 6
    peaks = run.read_json(run.environment)["memory_peaks_bytes"]
    assert sum(size for name, size in peaks.items() if name != ANALYSING) < 2 * GIB, peaks
    assert peaks[ANALYSING] < 4 * GIB, peaks
