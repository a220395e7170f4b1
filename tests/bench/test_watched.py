from __future__ import annotations

import sys
import time

import pytest
from bench.watched import WatchedCommand

SLACK = "print(open('/proc/self/timerslack_ns').read().strip())"


def test_a_command_is_seen_with_its_lines_its_cpu_and_its_memory() -> None:
    begun_s = time.monotonic()
    code = (
        "import time; b = bytearray(50_000_000); x = time.process_time\nwhile x() < 0.5: pass\nprint('done')"
    )
    ran = WatchedCommand([sys.executable, "-c", code], 60)
    ended_s = time.monotonic()
    [(at_s, line)] = ran.lines
    assert line == "done"
    assert begun_s < at_s < ended_s
    assert 0.2 < ran.watch.cpu_s_since(begun_s) <= ended_s - begun_s + 0.1
    assert ran.watch.most_bytes > 50_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="timer slack is Linux's")
def test_it_wakes_as_punctually_as_our_agents_do() -> None:
    assert WatchedCommand([sys.executable, "-c", SLACK], 60).lines[0][1] == "1"


def test_one_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="3 of 10 messages did not come"):
        WatchedCommand([sys.executable, "-c", "raise SystemExit('3 of 10 messages did not come')"], 60)


def test_one_that_does_not_end_is_ended() -> None:
    with pytest.raises(RuntimeError, match="ended with -9"):
        WatchedCommand([sys.executable, "-c", "import time; time.sleep(60)"], 0.5)


def test_it_may_have_an_environment_of_its_own_beside_ours() -> None:
    said = WatchedCommand(
        [sys.executable, "-c", "import os; print(os.environ['MINE'], len(os.environ) > 1)"], 60, {"MINE": "7"}
    )
    assert said.lines[0][1] == "7 True"
