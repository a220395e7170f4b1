from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from streamgauge.core.errors import SystemFailed
from streamgauge.systems.processes import end, how_it_ended, spawn, telling_line, why_it_ended


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_deaf_process_is_killed_after_the_deadline(tmp_path: Path) -> None:
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up', flush=True); time.sleep(60)"
    )
    log = tmp_path / "deaf.log"
    process = spawn(python(deaf), log, dies_with_parent=True)
    until = time.monotonic() + 10
    while "up" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.02)
    end([process], deadline_s=0.3)
    assert process.returncode == -9


def test_an_obedient_one_is_not_waited_for_longer_than_needed(tmp_path: Path) -> None:
    process = spawn(python("import time; time.sleep(60)"), tmp_path / "a.log", dies_with_parent=True)
    began = time.monotonic()
    end([process], 600)
    assert process.returncode == -15
    assert time.monotonic() - began < 300


def test_why_it_ended_names_code_reason_and_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "a.log"
    process = spawn(python("raise SystemExit('Error: no room')"), log, dies_with_parent=True)
    process.wait(60)
    assert why_it_ended(process, log) == f"exit code 1: Error: no room; see {log}"


def test_a_program_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemFailed, match="cannot be started"):
        spawn([str(tmp_path / "nothing")], tmp_path / "a.log", dies_with_parent=True)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", ""),
        ("one\ntwo\n\n", "two"),
        ("x ERROR kafka.Kafka$ - Exiting\nlater\n", "ERROR kafka.Kafka$ - Exiting"),
        (
            "x ERROR - Exiting\norg.apache.kafka.common.KafkaException: outer\n\tat a.b(C.java:1)\n"
            "Caused by: java.net.BindException: Address already in use\n\tat d.e(F.java:2)\n",
            "java.net.BindException: Address already in use",
        ),
        (
            "Unrecognized VM option 'X'\nError: Could not create the Java Virtual Machine.\n"
            "Error: A fatal exception has occurred. Program will exit.\n",
            "Unrecognized VM option 'X'",
        ),
    ],
)
def test_telling_line(log: str, line: str) -> None:
    assert telling_line(log) == line


def test_of_a_process_that_ran_well_the_last_lines_are_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "import os\nfor n in range(5000): print('line', n)\nprint('x' * 500)\nos.abort()"
    process = spawn([sys.executable, "-u", "-c", script], log, dies_with_parent=True)
    process.wait(60)
    assert how_it_ended(process, log) == (
        f"killed by SIGABRT; its last words: line 4998 | line 4999 | {'x' * 160}…; see {log}"
    )
    log.unlink()
    assert how_it_ended(process, log) == f"killed by SIGABRT; see {log}"
