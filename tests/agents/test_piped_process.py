from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from streamgauge.agents.piped_process import PipedProcess

ECHO = """
import json, os, sys
print("chatter", file=sys.stderr)
for line in sys.stdin:
    said = json.loads(line)
    if said.get("leave"):
        os._exit(5)
    print(json.dumps({"heard": said, "pid": os.getpid()}), flush=True)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "echo_process.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    return "echo_process"


def test_it_answers_until_its_input_ends(module: str, tmp_path: Path) -> None:
    process = PipedProcess(module, "echo", tmp_path / "logs" / "echo.log")
    process.say({"a": 1})
    answer = process.answer(30)
    assert answer is not None
    assert answer["heard"] == {"a": 1}
    assert process.answer(0.01) is None
    process.close()
    assert process.answer(10) == {"died": "echo died: ended with exit code 0; see its log in the run folder"}
    assert not process.is_alive
    assert (tmp_path / "logs" / "echo.log").read_text() == "chatter\n"


def test_its_death_is_an_answer(module: str) -> None:
    process = PipedProcess(module, "echo", None)
    process.say({"leave": True})
    assert process.answer(30) == {"died": "echo died: ended with exit code 5; see its log in the run folder"}
    process.say({"more": 1})  # harmless
    process.close()


def test_a_killed_one_says_by_what(module: str) -> None:
    process = PipedProcess(module, "echo", None)
    process.say({})
    answer = process.answer(30)
    assert answer is not None
    os.kill(answer["pid"], signal.SIGKILL)
    assert process.answer(30) == {"died": "echo died: killed by SIGKILL"}
    process.close()
