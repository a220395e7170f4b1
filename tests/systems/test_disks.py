"""A disk that is full, or slow, for one process: what it writes elsewhere is not touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.c_programs import compiler
from streamgauge.systems import disks as disks_module
from streamgauge.systems.disks import DiskFault, DiskHits, Disks, why_no_disks

pytestmark = pytest.mark.skipif(why_no_disks() is not None, reason=str(why_no_disks()))

# As a broker does it: in each of the ways that Java has, on each word; to a socket, too.
_WRITER = """
import errno, os, socket, sys
data, elsewhere = (os.open(path, os.O_RDWR | os.O_CREAT) for path in sys.argv[1:])
here, there = socket.socketpair()
ways = {
    "write": lambda file: os.write(file, b"12"),
    "writev": lambda file: os.writev(file, [b"1", b"2"]),
    "pwrite": lambda file: os.pwrite(file, b"12", 4),
    "pwritev": lambda file: os.pwritev(file, [b"1", b"2"], 4),
    "fsync": lambda file: os.fsync(file) or 0,
    "fdatasync": lambda file: os.fdatasync(file) or 0,
}
def tried(way, file):
    try:
        return str(ways[way](file))
    except OSError as error:
        return errno.errorcode[error.errno]
for line in sys.stdin:
    said = [tried(way, data) for way in ways]
    assert [tried(way, elsewhere) for way in ways] == ["2", "2", "2", "2", "0", "0"]
    assert here.send(b"12") == os.write(here.fileno(), b"12") == 2
    print(*said, flush=True)
"""
_WELL = ["2", "2", "2", "2", "0", "0"]
_FULL = [*["ENOSPC"] * 4, "0", "0"]


class Writer:
    def __init__(self, disks: Disks, name: str, folder: Path) -> None:
        data = folder / name
        data.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(data / "log"), str(folder / f"{name}-elsewhere")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **disks.environment(name, data)},
        )

    def writes(self) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().split()

    def close(self) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    made = Disks(tmp_path / "disks", ["broker-1", "broker-2"])
    yield made
    made.close()


@pytest.fixture
def writers(disks: Disks, tmp_path: Path) -> Iterator[dict[str, Writer]]:
    made = {name: Writer(disks, name, tmp_path) for name in ("broker-1", "broker-2")}
    yield made
    for writer in made.values():
        writer.close()


def test_a_full_disk_refuses_what_is_written_until_there_is_room(
    disks: Disks, writers: dict[str, Writer]
) -> None:
    assert writers["broker-1"].writes() == _WELL

    number = disks.disturb("broker-1", DiskFault(is_full=True))
    assert writers["broker-1"].writes() == _FULL
    assert writers["broker-2"].writes() == _WELL
    assert disks.hits("broker-1") == DiskHits(refused_count=4, delayed_count=0)
    disks.clear(number)

    assert writers["broker-1"].writes() == _WELL
    assert disks.hits("broker-1").refused_count == 4
    assert disks.hits("broker-2") == DiskHits(0, 0)


def test_a_slow_disk_holds_up_what_it_is_slow_at(disks: Disks, writers: dict[str, Writer]) -> None:
    writing = disks.disturb("broker-2", DiskFault(write_delay_s=0.001))
    assert writers["broker-2"].writes() == _WELL
    assert disks.hits("broker-2") == DiskHits(refused_count=0, delayed_count=4)
    disks.clear(writing)
    disks.disturb("broker-2", DiskFault(sync_delay_s=0.001))
    assert writers["broker-2"].writes() == _WELL
    assert disks.hits("broker-2").delayed_count == 6

    disks.restore()
    assert writers["broker-2"].writes() == _WELL
    assert disks.hits("broker-2").delayed_count == 6


def test_faults_of_one_disk_add_up(disks: Disks, writers: dict[str, Writer]) -> None:
    disks.disturb("broker-1", DiskFault(write_delay_s=0.001))
    full = disks.disturb("broker-1", DiskFault(is_full=True))
    assert writers["broker-1"].writes() == _FULL
    disks.clear(full)
    assert writers["broker-1"].writes() == _WELL
    assert disks.hits("broker-1") == DiskHits(refused_count=4, delayed_count=8)


def test_whoever_was_to_be_loaded_first_still_is(disks: Disks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/lib/clock.so")
    loaded = disks.environment("broker-1", Path("/data"))["LD_PRELOAD"]
    assert loaded.endswith("/disk.so:/lib/clock.so")


def test_where_it_cannot_be_done_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiler() is not None
    monkeypatch.setattr(disks_module, "compiler", lambda: None)
    assert why_no_disks() == "there is no C compiler (cc)"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert why_no_disks() == "the disk of one process can be full, or slow, on Linux alone"
