from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from streamgauge.agents import sampler as sampler_module
from streamgauge.agents.sampler import Sampler, throttled_count
from streamgauge.core.clock import clock_domain
from streamgauge.tables.events import SAMPLES

from ..recording.recorder import Recorder

OWN = {"producer-0": ("producer", os.getpid())}


def rows_of(sampler: Sampler) -> list[dict[str, Any]]:
    sampler.start()
    sampler.stop()
    return sampler.rows


def test_own_process_and_machine_are_looked_at_first_and_last() -> None:
    before = time.monotonic_ns()
    rows = rows_of(Sampler(OWN, machine=True))
    after = time.monotonic_ns()
    assert [row["source"] for row in rows] == ["producer-0", "machine"] * 2
    assert [row["kind"] for row in rows] == ["producer", "machine"] * 2
    times = [row["at_ns"] for row in rows]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= after
    assert {row["host"] for row in rows} == {clock_domain()}
    assert {row["cores"] for row in rows} == {psutil.cpu_count()}


def test_figures_of_the_own_process_are_its_own() -> None:
    sampler = Sampler(OWN, machine=False)
    sampler.start()
    deadline = time.process_time() + 0.05
    while time.process_time() < deadline:
        sum(range(1000))
    sampler.stop()
    first, last = sampler.rows[0], sampler.rows[-1]
    assert first["cpu_s"] <= last["cpu_s"] <= time.process_time() + 0.02
    assert last["cpu_s"] - first["cpu_s"] >= 0.03
    assert last["rss_bytes"] == pytest.approx(psutil.Process().memory_info().rss, rel=0.5)
    assert first["net_sent_bytes"] is None


def test_figures_of_the_machine_are_plausible() -> None:
    first, last = rows_of(Sampler({}, machine=True))
    memory = psutil.virtual_memory()
    assert 0 < last["rss_bytes"] < memory.total
    up_s = time.time() - psutil.boot_time()
    assert 0 < first["cpu_s"] <= last["cpu_s"] <= (up_s + 1) * (psutil.cpu_count() or 1)
    for name in ("net_sent_bytes", "net_received_bytes"):
        assert 0 <= first[name] <= last[name]


def test_rows_fit_the_samples_table(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path))
    rows = rows_of(Sampler(OWN, machine=True))
    recorder.files.write_rows(SAMPLES, rows)
    assert recorder.rows(SAMPLES) == [{name: row[name] for name in SAMPLES.column_names} for row in rows]


@pytest.fixture
def ended() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_process_that_has_ended_has_no_rows_and_does_not_disturb(ended: int) -> None:
    rows = rows_of(Sampler({"broker-1": ("broker", ended), **OWN}, machine=False))
    assert [row["source"] for row in rows] == ["producer-0"] * 2


def test_a_process_that_ends_meanwhile_keeps_its_rows() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    sampler = Sampler({"broker-1": ("broker", process.pid), **OWN}, machine=False)
    sampler.start()
    process.communicate(b"\n")
    sampler.stop()
    assert [row["source"] for row in sampler.rows] == ["broker-1", "producer-0", "producer-0"]


def test_the_machine_can_be_added_before_the_start() -> None:
    sampler = Sampler({}, machine=False)
    sampler.watch_machine()
    assert [row["source"] for row in rows_of(sampler)] == ["machine", "machine"]


def test_a_sampler_never_started_has_nothing_to_say() -> None:
    sampler = Sampler(OWN, machine=True)
    sampler.stop()
    assert sampler.rows == []


def test_it_looks_again_and_again_and_tells_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler_module, "INTERVAL_S", 0.01)
    third_time = threading.Event()
    calls: list[int] = []

    def each_time() -> None:
        calls.append(len(sampler.rows))
        if len(calls) == 3:
            third_time.set()

    sampler = Sampler(OWN, machine=False, each_time=each_time)
    sampler.start()
    assert third_time.wait(60)
    sampler.stop()
    assert calls[:3] == [2, 3, 4], "called after every look but the first"
    assert len(sampler.rows) == len(calls) + 2


@pytest.mark.parametrize("place", ["cpu.stat", "cpu/cpu.stat"])
def test_throttling_is_read_where_containers_keep_it(tmp_path: Path, place: str) -> None:
    assert throttled_count(tmp_path) is None
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("nr_periods 12\nnr_throttled 7\nthrottled_usec 123\n")
    assert throttled_count(tmp_path) == 7
    file.write_text("nr_throttled\n")
    assert throttled_count(tmp_path) is None


@pytest.mark.parametrize(
    ("inside", "top"),
    [
        ("0::/system.slice/bench.service", ""),
        ("7:memory:/elsewhere\n3:cpu,cpuacct:/system.slice/bench.service", "cpu"),
    ],
)
def test_limits_of_a_service_and_of_its_slice_are_seen(tmp_path: Path, inside: str, top: str) -> None:
    """A CPUQuota of systemd is no container: what lies at the top is the whole machine's."""
    own, groups = tmp_path / "own", tmp_path / "groups"
    own.write_text(f"{inside}\n")
    service = groups / top / "system.slice" / "bench.service"
    service.mkdir(parents=True)
    assert throttled_count(groups, own) is None
    (groups / "elsewhere").mkdir()
    (groups / "elsewhere" / "cpu.stat").write_text("nr_throttled 1000\n")
    (service / "cpu.stat").write_text("nr_periods 9\nnr_throttled 5\n")
    (service.parent / "cpu.stat").write_text("nr_throttled 2\n")
    assert throttled_count(groups, own) == 7


def test_of_a_group_that_is_not_shown_the_container_s_own_counts(tmp_path: Path) -> None:
    own, groups = tmp_path / "own", tmp_path / "groups"
    own.write_text("0::/docker/0123\n")
    groups.mkdir()
    (groups / "cpu.stat").write_text("nr_throttled 4\n")
    assert throttled_count(groups, own) == 4


def test_what_the_machine_swapped_is_counted() -> None:
    first, last = rows_of(Sampler({}, machine=True))
    assert 0 <= first["swapped_bytes"] <= last["swapped_bytes"]
