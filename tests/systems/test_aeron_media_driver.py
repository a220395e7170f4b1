from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamgauge.core.errors import SystemFailed
from streamgauge.jvm.aeron_directory import driver_state
from streamgauge.systems.aeron_media_driver import AeronMediaDriver


def test_it_is_there_while_it_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with AeronMediaDriver(log_dir=tmp_path) as driver:
        directory = driver.directory
        state = driver_state(directory)
        assert state.is_alive
        assert state.pid == driver.processes()["media-driver"]
        assert driver.settings()["profile"] in ("few_cores", "low_latency")
        # What it says itself that it does.
        wanted = "ShortNaps" if driver.settings()["profile"] == "few_cores" else "NoOpIdleStrategy"
        deadline = time.monotonic() + 20
        while wanted not in driver.log_file().read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert driver.endpoints() == {"directory": str(directory)}
    assert not directory.parent.exists()
    assert not driver_state(directory).is_there


def test_a_property_that_it_refuses_is_said(tmp_path: Path) -> None:
    driver = AeronMediaDriver(log_dir=tmp_path, properties={"aeron.mtu.length": "7"})
    with pytest.raises(SystemFailed, match=r"media driver ended at start: .*mtu"):
        driver.start()


def test_memory_that_is_too_small_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=64 * 2**20))
    driver = AeronMediaDriver(log_dir=tmp_path, memory=tmp_path)
    with pytest.raises(SystemFailed, match=r"is too small: 64.0 MiB are free, .*mount -o remount,size=\d+m"):
        driver.launch()
    assert driver.processes() == {}


def test_one_that_was_killed_is_not_alive_any_more(tmp_path: Path) -> None:
    with AeronMediaDriver(log_dir=tmp_path) as driver:
        assert driver.ended() is None
        os.kill(driver.processes()["media-driver"], signal.SIGKILL)
        deadline = time.monotonic() + 20
        while driver_state(driver.directory).is_alive:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert driver_state(driver.directory).is_there
        assert (driver.ended() or "").startswith("Aeron's media driver ended: killed by SIGKILL")


@pytest.mark.parametrize("content", [b"", b"\0" * 200, b"\1" * 10])
def test_a_file_that_is_not_whole_is_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cnc.dat").write_bytes(content)
    assert not driver_state(tmp_path).is_there
