"""docs/examples/faults and `streamgauge chaos` on real brokers, as a user runs them: nothing acknowledged is
lost where others have it, too, and what is lost where nobody has is counted."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from streamgauge.core.clock import NS_PER_S
from streamgauge.core.memory import ANALYSING, LAUNCHER
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.fault_file import FaultRecord, read_faults
from tests.cli.streamgauge_command import in_process, one_run, streamgauge
from tests.proof import PROOF

EXAMPLES = Path(__file__).parents[2] / "docs/examples/faults"
RUN_DEADLINE_S = 1800.0
MOST_BYTES = 4 * 1024**3

pytestmark = [
    pytest.mark.skipif(not PROOF, reason="`make proof` makes the long runs"),
    pytest.mark.proof,
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.timeout(2 * RUN_DEADLINE_S),
]


class Ran:
    """What came of an example."""

    def __init__(self, name: str, folder: Path, **other: Any) -> None:
        """`other`: fields of its load, where it is not to be as it is."""
        workload = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
        workload["load"] |= other
        file, out = folder / f"{name}.yaml", folder / "runs"
        file.write_text(yaml.safe_dump(workload))
        done = streamgauge("run", file, "--out", out, deadline_s=RUN_DEADLINE_S)
        self.exit_code, self.said = done.returncode, done.stdout + done.stderr
        self.run = one_run(out)
        self.rate_per_s = int(workload["load"]["rate"].removesuffix("k/s")) * 1000
        self.seconds = int(str(workload["load"]["duration"]).removesuffix("s").replace("2m", "120"))
        [case] = json.loads((self.run / "results" / "results.json").read_text())["cases"]
        self.accounting: dict[str, int] = case["accounting"]
        self.faults: list[dict[str, Any]] = case["faults"]
        self.found = {one["kind"]: one["count"] for one in case["verification"]["findings"]}
        self.cut_back: int = case["verification"]["cut_back"]
        self.not_checked: list[str] = case["verification"]["not_checked"]
        self.verdict = in_process("verify", self.run, "--quiet").returncode

    @property
    def records(self) -> tuple[FaultRecord, ...]:
        [records] = read_faults(RunDir(str(self.run))).values()
        assert all(record.problem is None for record in records), records
        assert all(record.done_ns and record.ended_ns for record in records), records
        return records

    def counts(self, *names: str) -> list[int]:
        return [self.accounting[name] for name in names]


def test_three_brokers_lose_nothing_write_nothing_twice_and_keep_the_order(tmp_path: Path) -> None:
    check_three_brokers(Ran("three-brokers", tmp_path))


def check_three_brokers(ran: Ran) -> None:
    sent = ran.rate_per_s * ran.seconds
    assert [record.kind for record in ran.records] == ["broker_kill", "broker_pause", "broker_restart"]
    assert ran.exit_code == 0, ran.said
    assert ran.counts("sent", "acked", "received") == [sent] * 3
    assert ran.counts("lost_write", "unseen", "duplicate", "out_of_order", "failed") == [0] * 5
    assert (ran.found, ran.not_checked, ran.verdict) == ({}, [], 0)
    # Nobody has to feel a restart that says good-bye first.
    for fault in ran.faults:
        assert fault["is_recovered"], fault
        assert fault["lost_count"] == fault["failed_count"] == fault["duplicate_count"] == 0, fault
    for fault in ran.faults[:2]:
        assert fault["detect_s"] is not None, fault
        assert fault["recover_s"] is not None, fault


def test_an_unclean_election_loses_what_only_the_leader_had_and_each_is_counted(tmp_path: Path) -> None:
    check_unclean_election(Ran("unclean-election", tmp_path))


def check_unclean_election(ran: Ran) -> None:
    [record] = ran.records
    assert record.began_ns is not None
    assert record.counts_from_ns is not None
    assert record.done_ns is not None
    assert record.began_ns < record.counts_from_ns <= record.done_ns
    lost, unseen = ran.counts("lost_write", "unseen")
    # Some had been read before the log was cut back: nobody who reads it now finds them either.
    gone = lost + ran.cut_back
    assert gone > 0
    acked, received = ran.counts("acked", "received")
    assert acked <= received + lost + unseen
    assert ran.found.get("lost_write", 0) >= lost
    assert ran.found.get("inconsistent_offsets", 0) >= ran.cut_back
    assert ran.verdict == 1, ran.said
    assert ran.exit_code == (1 if lost else 0), ran.said
    [fault] = ran.faults
    assert (fault["lost_count"] > 0) == (lost > 0)
    # What was acknowledged while the follower stood still, and no more: the rest is in its log.
    alone_s = (record.done_ns - record.began_ns) / NS_PER_S
    assert gone <= (alone_s + 2) * ran.rate_per_s


def test_of_transactions_with_a_leader_killed_nothing_aborted_is_read_and_all_else_is(tmp_path: Path) -> None:
    check_transactions(Ran("transactions", tmp_path))


def check_transactions(ran: Ran) -> None:
    assert [record.kind for record in ran.records] == ["broker_kill"]
    assert ran.exit_code == 0, ran.said
    sent, acked, aborted, failed, received = ran.counts("sent", "acked", "aborted", "failed", "received")
    assert sent == ran.rate_per_s * ran.seconds
    # Every fifth of 100 messages each, with those at the ends cut by the warm-up.
    assert abs(aborted - sent / 5) <= 200
    assert sent == acked + aborted + failed
    assert received == acked
    assert ran.counts("lost_write", "unseen", "duplicate", "out_of_order") == [0] * 4
    assert (ran.found, ran.not_checked, ran.verdict) == ({}, [], 0)


def test_ten_million_messages_through_chaos_are_verified_in_less_than_four_gib(tmp_path: Path) -> None:
    check_chaos(tmp_path, duration="5m", rate="40k/s", messages=10_000_000)


def check_chaos(folder: Path, duration: str, rate: str, messages: int) -> None:
    flags = ("--seed", "7", "--for", duration, "--rate", rate, "--size", "100", "--shrink-runs", "0")
    with ThreadPoolExecutor(1) as at_work:
        running = at_work.submit(streamgauge, "chaos", *flags, "--out", folder, deadline_s=RUN_DEADLINE_S)
        most_bytes = 0
        while not running.done():
            most_bytes = max(most_bytes, all_but_brokers_bytes())
            time.sleep(1.0)
        done = running.result()
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    run = RunDir(str(one_run(folder)))
    [case] = json.loads(run.read_text("results/results.json"))["cases"]
    verified = case["verification"]
    assert min(verified["acked"], verified["received"]) >= messages
    assert (verified["findings"], verified["not_checked"]) == ([], [])
    # One is of the launcher with Spark and its tasks; the others are the launcher alone and each agent.
    peaks = run.read_json(run.environment)["memory_peaks_bytes"]
    assert {LAUNCHER, ANALYSING, "producer-0", "consumer-0"} <= set(peaks)
    assert sum(size for name, size in peaks.items() if name != ANALYSING) < MOST_BYTES, peaks
    assert peaks[ANALYSING] < MOST_BYTES, peaks
    assert 0 < most_bytes < MOST_BYTES, "launcher, Spark and agents together, whenever it was looked"


def all_but_brokers_bytes() -> int:
    """Of all processes below this one; pages that they share are counted for each."""
    together = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "kafka.Kafka" not in process.cmdline():
                together += process.memory_info().rss
    return together
