from __future__ import annotations

import os
import signal
import sys
import time

import psutil
import pytest

from streamgauge.core.parent_death import die_with_parent


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's kernel sees to it")
def test_a_process_dies_with_the_one_that_forked_it() -> None:
    reading, writing = os.pipe()
    parent = os.fork()
    if not parent:
        arm = die_with_parent()
        child = os.fork()
        if not child:
            assert arm is not None
            arm()
            os.write(writing, str(os.getpid()).encode())
        time.sleep(60)
        os._exit(0)
    orphan = psutil.Process(int(os.read(reading, 20)))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    _, alive = psutil.wait_procs([orphan], timeout=5)
    assert alive == []
    os.close(reading)
    os.close(writing)


def test_one_whose_parent_was_gone_before_it_could_arm_ends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        assert die_with_parent() is None
        return
    arm = die_with_parent()
    assert arm is not None
    child = os.fork()
    if not child:
        # As if it had been given to another parent since.
        monkeypatch.setattr(os, "getppid", lambda: 1)
        arm()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
