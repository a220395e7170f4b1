"""Whatever becomes of a process: its guardian ends what it started and removes its folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from streamgauge.core.guardian import MARK_VARIABLE, mark, without_mark
from streamgauge.core.guardian_process import marked
from streamgauge.core.other_guardians import wait_until_seen_to
from tests.waiting import wait_for

pytestmark = pytest.mark.process

# Nobody here has anything to write at its end: who does not heed SIGTERM is not waited for as long as usual.
GUARDED = """
import os, subprocess, sys, time
from streamgauge.core.guardian import guard, memory_folder, promise, temporary_folder, with_mark
guard(grace_s=0.5)
"""
STARTS = (
    GUARDED
    + """
sleeping = [sys.executable, "-c", "import time; time.sleep(90)"]
child = subprocess.Popen(sleeping, start_new_session=True)
stubborn = subprocess.Popen(
    [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(90)"],
    env=with_mark({"PATH": os.environ["PATH"]}),
)
(temporary_folder() / "data").write_text("x")
(memory_folder() / "data").write_text("x")
"""
)
WAITS = "print(os.environ['STREAMGAUGE_OWNER'], child.pid, stubborn.pid, memory_folder(), flush=True)\n"


def started(code: str, tmp_path: Path, **variables: str) -> subprocess.Popen[str]:
    environment = {**without_mark(), "TMPDIR": str(tmp_path), **variables}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_killed_process(ending: signal.Signals, tmp_path: Path) -> None:
    with started(STARTS + WAITS + "time.sleep(90)", tmp_path) as process:
        mark, *pids, memory = said(process)
        assert len(marked(mark)) == 2
        assert [folder.name for folder in tmp_path.iterdir()] == [f"streamgauge-of-{mark}"]
        process.send_signal(ending)
    wait_for(lambda: not any(psutil.pid_exists(int(pid)) for pid in pids), 20)
    wait_for(lambda: not list(tmp_path.iterdir()), 20)
    assert not Path(memory).exists()


def test_a_process_that_ends_waits_until_nothing_is_left(tmp_path: Path) -> None:
    code = STARTS + WAITS + "from streamgauge.core.guardian import farewell; farewell()"
    with started(code, tmp_path) as process:
        mark, *_ = said(process)
        assert process.wait(30) == 0
        assert marked(mark) == []
        assert list(tmp_path.iterdir()) == []


def test_a_copy_of_the_process_does_not_keep_it_alive(tmp_path: Path) -> None:
    """As the gateway's processes are: the guardian waits for the one that started it."""
    code = STARTS + WAITS + "copy = os.fork()\nprint(copy, flush=True) if copy else None\ntime.sleep(90)"
    with started(code, tmp_path) as process:
        mark, *_ = said(process)
        [copy] = said(process)
        try:
            process.kill()
            wait_for(lambda: not list(tmp_path.iterdir()), 20)
            assert marked(mark) == []
        finally:
            os.kill(int(copy), signal.SIGKILL)


PROMISED = """
import json, pathlib, sys
told = json.load(sys.stdin)
pathlib.Path(told["file"]).write_text(told["words"])
"""


def test_what_was_promised_is_done_by_the_guardian_only_if_it_was_not_done(tmp_path: Path) -> None:
    (tmp_path / "promised.py").write_text(PROMISED)
    files = [tmp_path / "first", tmp_path / "second"]
    code = GUARDED + "\n".join(
        [
            f"kept = promise('promised', {{'file': {str(files[0])!r}, 'words': 'no'}})",
            f"promise('promised', {{'file': {str(files[1])!r}, 'words': 'yes'}})",
            "kept()",
            "os.kill(os.getpid(), 9)",
        ]
    )
    place = tmp_path / "temporary"
    place.mkdir()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with started(code, place, PYTHONPATH=path):
        pass
    wait_for(lambda: not list(place.iterdir()), 30)
    assert files[1].read_text() == "yes"
    assert not files[0].exists()


def test_who_takes_up_what_a_killed_one_had_begun_waits_for_its_guardian(tmp_path: Path) -> None:
    (tmp_path / "promised.py").write_text("import time; time.sleep(1)\n" + PROMISED)
    file = tmp_path / "done"
    code = GUARDED + "\n".join(
        [
            "from streamgauge.core.guardian import mark",
            "print(mark(), flush=True)",
            f"promise('promised', {{'file': {str(file)!r}, 'words': 'yes'}})",
            "os.kill(os.getpid(), 9)",
        ]
    )
    place = tmp_path / "temporary"
    place.mkdir()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with started(code, place, PYTHONPATH=path) as process:
        [other] = said(process)
    assert not wait_until_seen_to(other, deadline_s=0)
    assert wait_until_seen_to(other)
    assert file.read_text() == "yes"
    assert wait_until_seen_to(mark(), deadline_s=0), "nobody waits for the end of its own command"


def test_the_next_one_sees_to_what_was_left_when_the_guardian_was_killed_too(tmp_path: Path) -> None:
    with started(STARTS + WAITS + "time.sleep(90)", tmp_path) as process:
        mark, *_ = said(process)
        [guardian] = [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]
        guardian.kill()
        process.kill()
    assert len(marked(mark)) == 2
    with started(STARTS + WAITS + "time.sleep(90)", tmp_path) as running:
        other, *_ = said(running)
        with started(GUARDED, tmp_path):
            pass
        wait_for(lambda: [folder.name for folder in tmp_path.iterdir()] == [f"streamgauge-of-{other}"], 30)
        assert marked(mark) == []
        assert len(marked(other)) == 2, "those of a process that is alive are left alone"
        running.kill()
    wait_for(lambda: not list(tmp_path.iterdir()), 20)


def test_children_are_part_of_it_and_start_no_guardian(tmp_path: Path) -> None:
    code = "import os; from streamgauge.core.guardian import temporary_folder; print(temporary_folder())"
    with started(code, tmp_path, **{MARK_VARIABLE: "abc"}) as process:
        assert said(process) == [str(tmp_path / "streamgauge-of-abc")]
