from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from streamgauge.agents import fork_server
from streamgauge.agents.forked_process import ForkedProcess, forked_agent
from tests.waiting import wait_for

pytestmark = pytest.mark.process


TELLING = """
import json, os, signal, sys

def main():
    heard = sys.stdin.read()
    ignores = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    seen = [n for n in numbers if os.path.exists(f"/proc/self/fd/{n}")]
    print(json.dumps({"heard": heard, "said_later": os.environ.get("SAID_LATER"),
                      "ignores_children": ignores, "open": sorted(seen)}), flush=True)
    print("an error", file=sys.stderr)
    return 7
"""


FULL = """
import os

really = os.fork

def once():
    os.fork = really
    raise BlockingIOError("no room for one more process")

os.fork = once

def main():
    return 0
"""


@pytest.fixture
def server() -> Iterator[psutil.Process]:
    with running("streamgauge.agents.process") as server:
        yield server


@contextmanager
def running(module: str) -> Iterator[psutil.Process]:
    """Which ends by itself, as soon as nobody can ask it any more."""
    fork_server.open_door(module)
    [door] = fork_server.doors
    try:
        yield psutil.Process(door.server.pid)
    finally:
        fork_server.doors.clear()
        door.requests.close()
        assert door.server.wait(30) in (0, -signal.SIGKILL)


@contextmanager
def agent_of(log: Path) -> Iterator[ForkedProcess]:
    with log.open("ab") as stream:
        process = forked_agent(stream)
    assert process is not None
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        yield process
    process.kill()
    process.wait(30)


def test_agents_come_from_one_process_and_end_well(server: psutil.Process, tmp_path: Path) -> None:
    with ExitStack() as stack:
        agents = [stack.enter_context(agent_of(tmp_path / f"{number}.log")) for number in range(3)]
        assert {agent.pid for agent in agents} == {child.pid for child in server.children()}
        for agent in agents:
            assert agent.stdin is not None
            agent.stdin.close()
            assert agent.wait(30) == 0
        assert server.children() == []  # nobody is left to be reaped


def test_an_agent_has_the_environment_and_the_log_of_who_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "telling_agent.py").write_text(TELLING)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    with running("telling_agent") as server:
        monkeypatch.setenv("SAID_LATER", "yes")
        with agent_of(tmp_path / "agent.log") as agent:
            assert agent.stdin is not None
            assert agent.stdout is not None
            agent.stdin.write("hello\n")
            agent.stdin.close()
            told = json.loads(agent.stdout.read())
            assert agent.wait(30) == 7
        assert told == {
            "heard": "hello\n",
            "said_later": "yes",
            "ignores_children": False,
            "open": [0, 1, 2],
        }
        assert (tmp_path / "agent.log").read_text() == "an error\n"
        # Standard ones, requests, a pair to be woken by, and the selector's.
        wait_for(lambda: server.num_fds() == 7)


def test_without_room_for_one_more_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "full_machine.py").write_text(FULL)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    with running("full_machine") as server:
        with agent_of(tmp_path / "first.log") as agent:
            assert agent.wait(30) == -signal.SIGKILL
            with pytest.raises(ProcessLookupError):
                agent.pid  # noqa: B018
        with agent_of(tmp_path / "second.log") as agent:
            assert agent.wait(30) == 0
        wait_for(lambda: server.num_fds() == 7)


def test_a_killed_agent_is_told_as_killed(server: psutil.Process, tmp_path: Path) -> None:
    with agent_of(tmp_path / "agent.log") as agent:
        agent.kill()
        assert agent.wait(30) == -signal.SIGKILL
        agent.kill()  # harmless


def test_waiting_has_a_deadline(server: psutil.Process, tmp_path: Path) -> None:
    with agent_of(tmp_path / "agent.log") as agent:
        assert agent.pid > 0
        with pytest.raises(subprocess.TimeoutExpired):
            agent.wait(0.01)


def test_an_agent_does_not_outlive_a_server_that_was_killed(server: psutil.Process, tmp_path: Path) -> None:
    with agent_of(tmp_path / "agent.log") as agent:
        pid = agent.pid
        server.kill()
        assert agent.wait(30) == -signal.SIGKILL
        wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        assert forked_agent(None) is None  # and who asks now has to start one as any other


def test_without_a_server_there_is_none_to_ask() -> None:
    assert fork_server.doors == []
    assert forked_agent(None) is None


def test_a_process_with_too_large_an_environment_is_started_as_any_other(
    server: psutil.Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        monkeypatch.setenv(f"LARGE_{number}", "x" * 60_000)
    assert forked_agent(None) is None


def test_who_asked_and_went_away_disturbs_nobody(server: psutil.Process, tmp_path: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    told = fork_server.ask(nothing, 1, 2)
    os.close(nothing)
    assert told is not None
    pid = json.loads(told.recv(4096))["pid"]
    told.close()
    wait_for(lambda: pid not in {child.pid for child in server.children()})
    with agent_of(tmp_path / "agent.log") as agent:
        assert agent.pid > 0
