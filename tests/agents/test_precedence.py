"""Precedence is had where the system grants it, said where not, and given back in the end."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from streamgauge.agents import precedence as room
from streamgauge.agents.precedence import isolated_cores, precedence

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="a call of Linux")


def test_by_default_nothing_is_taken_and_nothing_said() -> None:
    before = os.sched_getscheduler(0), os.sched_getaffinity(0)
    with precedence("none", 0) as said:
        assert (said, (os.sched_getscheduler(0), os.sched_getaffinity(0))) == ({}, before)


def test_real_time_is_for_the_thread_and_not_for_those_it_starts() -> None:
    before = os.sched_getscheduler(0)
    started: list[int] = []
    with precedence("real_time", 0) as said:
        if "ordinary" in said["thread priority"]:
            pytest.skip(said["thread priority"])
        assert os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
        thread = threading.Thread(target=lambda: started.append(os.sched_getscheduler(0)))
        thread.start()
        thread.join(10)
    assert said == {"thread priority": "real time 1"}
    assert started == [os.SCHED_OTHER]
    assert os.sched_getscheduler(0) == before


def test_who_may_not_goes_on_as_before_and_reads_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with precedence("real_time", 0) as said:
        assert said["thread priority"].startswith("ordinary: this user may not (CAP_SYS_NICE")


def test_a_core_is_taken_of_those_set_aside_and_given_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = os.sched_getaffinity(0)
    core = max(before)
    (listed := tmp_path / "isolated").write_text(f"{core}\n")
    monkeypatch.setattr(room, "_ISOLATED", listed)
    with precedence("own_core", 0) as said:
        assert (said, os.sched_getaffinity(0)) == ({"thread core": str(core)}, {core})
    assert os.sched_getaffinity(0) == before
    with precedence("own_core", 1) as said:
        assert said["thread core"].startswith("any: the kernel sets no core aside")
        assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("listed", "cores"), [("", []), ("\n", []), ("3\n", [3]), ("1-3,6\n", [1, 2, 3, 6]), (None, [])]
)
def test_the_kernels_list_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: str | None, cores: list[int]
) -> None:
    file = tmp_path / "isolated"
    if listed is not None:
        file.write_text(listed)
    monkeypatch.setattr(room, "_ISOLATED", file)
    assert isolated_cores() == cores


def test_a_core_that_a_container_was_not_given_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (listed := tmp_path / "isolated").write_text("4095\n")
    monkeypatch.setattr(room, "_ISOLATED", listed)
    with precedence("own_core", 0) as said:
        assert said["thread core"].startswith("any")
