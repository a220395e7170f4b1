"""A follower that was started before its leader."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.cli import follower
from streamgauge.core.errors import BadInput, StreamgaugeError, Unreachable
from streamgauge.launch.shared_secret import SECRET_VARIABLE, secret_to_come


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_a_leader_that_comes_later_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    until_s = time.monotonic() + 90
    waiting = threading.Thread(target=follower._wait_for_leader, args=("127.0.0.1", port, until_s, 90.0))
    waiting.start()
    deadline = time.monotonic() + 60
    said = ""
    while "waiting for the leader" not in said and time.monotonic() < deadline:
        said += capsys.readouterr().err
        time.sleep(0.02)
    with socket.create_server(("127.0.0.1", port)):
        waiting.join(60)
    assert not waiting.is_alive()
    assert said == f"waiting for the leader at 127.0.0.1:{port}\n"


def test_a_leader_that_never_comes_is_said_and_not_waited_for_longer() -> None:
    with pytest.raises(Unreachable, match="no leader answered there within 0 s"):
        follower._wait_for_leader("127.0.0.1", free_port(), time.monotonic(), 0.0)


def test_a_secret_that_comes_with_its_leader_is_waited_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    file, said = tmp_path / "secret", ""
    waiting = threading.Thread(target=follower._wait_for_secret, args=(file, time.monotonic() + 90))
    waiting.start()
    deadline = time.monotonic() + 60
    while "waiting" not in said and time.monotonic() < deadline:
        said += capsys.readouterr().err
        time.sleep(0.02)
    file.touch()  # as a leader does, a moment before it writes it
    assert secret_to_come(file) == file
    file.write_text("the-secret-of-some-leader\n")
    waiting.join(60)
    assert not waiting.is_alive()
    assert said == f"waiting for the leader's secret in {file}; or copy it there\n"


def test_a_secret_that_never_comes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    file = tmp_path / "secret"
    with pytest.raises(BadInput, match=r"secret: cannot be read: .*it is the leader's: copy it here"):
        follower.follower_command(
            leader_host="127.0.0.1", leader_port=free_port(), wait="0", secret_file=file
        )


def test_a_disk_that_has_no_room_for_a_run_is_said_before_anybody_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 << 20))
    with pytest.raises(BadInput, match=r"3\.0 MiB are free on its disk, a follower needs 256"):
        follower._check_space(tmp_path / "folder")


def test_a_worker_that_could_not_start_anything_for_want_of_room_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "_LOOK_S", 0.0)
    worker: Any = _Worker([False])
    worker.is_out_of_space = True
    with pytest.raises(
        StreamgaugeError, match="/scratch/of-it: the disk is full: Spark could not start a run's agents"
    ):
        follower._follow(worker, "127.0.0.1", free_port())


class _Worker:
    """As a follower's Spark worker is seen: it has joined, and then lost the leader."""

    folder = Path("/scratch/of-it")
    has_ended, has_joined, was_refused, is_out_of_space = False, True, False, False

    def __init__(self, misses: list[bool]) -> None:
        self._misses = misses

    @property
    def misses_leader(self) -> bool:
        return self._misses.pop(0)


def test_a_follower_ends_with_its_leader(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_LOOK_S", 0.0)
    worker: Any = _Worker([False, True])
    follower._follow(worker, "127.0.0.1", free_port())
    assert "has ended; so does this follower" in capsys.readouterr().err


def test_a_leader_that_is_still_there_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's own word on it may be a moment's; who listens there decides."""
    monkeypatch.setattr(follower, "_LOOK_S", 0.0)
    worker: Any = _Worker([True, True])
    with socket.create_server(("127.0.0.1", 0)) as leader, pytest.raises(IndexError):
        follower._follow(worker, "127.0.0.1", leader.getsockname()[1])
