"""Spark's master and worker as ours: what became of them, as far as they can tell."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamgauge.cli import leader as leader_command
from streamgauge.core.errors import BadInput
from streamgauge.launch import standalone
from streamgauge.launch.standalone import Follower, Leader
from tests.waiting import wait_for

_SECRET = "a-secret-of-some-length"


@pytest.mark.spark
def test_of_two_leaders_on_one_port_the_later_one_says_so_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took the next port, and waited there for ten minutes for followers that came to the other one."""
    monkeypatch.setattr(leader_command, "_LOOK_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as earlier:
        port = int(earlier.getsockname()[1])
        with Leader("127.0.0.1", port, _SECRET, tmp_path / "master.log") as later:
            attendance = leader_command._Attendance(later, 1, keeps=True)
            words = rf"--leader-host 127\.0\.0\.1 --leader-port {port}: cannot listen there: somebody else"
            with pytest.raises(BadInput, match=words):
                attendance.keep(60)


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Follower]:
    """In place of its Java a shell that starts a process for each line that it is told."""

    def spawn(command: list[str], log: Path, **_: object) -> subprocess.Popen[bytes]:
        log.touch()
        starts = "while read line; do sleep 60 & done; wait"
        return subprocess.Popen(["sh", "-c", starts], stdin=subprocess.PIPE, start_new_session=True)

    monkeypatch.setattr(standalone, "spawn", spawn)
    made = Follower(("127.0.0.1", 1), name="it", host="127.0.0.1", cores=1, secret=_SECRET, folder=tmp_path)
    yield made
    os.killpg(made.process.pid, signal.SIGKILL)
    made.process.communicate(timeout=30)


def test_a_disk_that_is_full_is_seen_where_its_log_cannot_say_so(
    worker: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not worker.is_out_of_space
    asked = list[Path]()

    def full(folder: Path) -> SimpleNamespace:
        asked.append(folder)
        return SimpleNamespace(free=4096)

    monkeypatch.setattr(shutil, "disk_usage", full)
    assert worker.is_out_of_space
    assert set(asked) == {worker.folder}
    # Agents that it has started already may do without that disk.
    assert worker.process.stdin is not None
    worker.process.stdin.write(b"start one\n")
    worker.process.stdin.flush()
    wait_for(lambda: not worker.is_out_of_space)


def test_what_its_log_says_of_a_full_disk_counts_for_itself(worker: Follower) -> None:
    worker.log.write_text("java.io.IOException: No space left on device\n")
    assert worker.is_out_of_space
