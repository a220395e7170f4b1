"""How `streamgauge` ends when somebody ends it early, and which exit code tells so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.streamgauge_command import command

pytestmark = pytest.mark.process

ENDINGS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
STRUCK = """
import os, signal, time
os.kill(os.getpid(), signal.Signals[os.environ["STRUCK_BY"]])
time.sleep(30)
"""


@pytest.mark.parametrize(
    ("imported", "ending"),
    [("typer", signal.SIGINT), ("pyspark", signal.SIGTERM), ("confluent_kafka", signal.SIGHUP)],
)
def test_a_signal_while_we_import_leaves_no_traceback(
    imported: str, ending: signal.Signals, tmp_path: Path
) -> None:
    """A module of this name strikes in the middle of our imports, wherever they are by then."""
    (tmp_path / f"{imported}.py").write_text(STRUCK)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "STRUCK_BY": ending.name}
    done = subprocess.run(
        command("e2e", "--out", tmp_path / "runs"),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 128 + ending
    assert len(done.stderr.splitlines()) <= 1, done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_exit_code_tells_which_signal_it_was(ending: signal.Signals, tmp_path: Path) -> None:
    """A reader that is never there: the command hangs while it reads its workload, until it is ended."""
    fifo = tmp_path / "w.yaml"
    os.mkfifo(fifo)
    with subprocess.Popen(
        command("run", fifo, "--out", tmp_path / "runs"), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            writing = os.open(fifo, os.O_WRONLY)  # returns when the command has opened it
            process.send_signal(ending)
            _, said = process.communicate(timeout=60)
            os.close(writing)
        finally:
            process.kill()
    assert process.returncode == 128 + ending
    assert len(said.splitlines()) <= 1, said


SWALLOWED = """
import os, signal, sys, time
from streamgauge.cli import commands, main

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # where the handler runs: what it raises in here is dropped
            pass

def app():
    for _ in range(3):
        Deaf()
    time.sleep(60)

commands.app = app
main.main()
"""


def test_a_signal_that_strikes_where_nothing_can_be_raised_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == ""


@pytest.mark.parametrize("ignored", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_we_were_started_to_ignore_is_ignored(ignored: signal.Signals, tmp_path: Path) -> None:
    fifo = tmp_path / "w.yaml"
    os.mkfifo(fifo)
    ignore = f"import signal; signal.signal({int(ignored)}, signal.SIG_IGN)"
    started = f"{ignore}; import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", started, *map(str, command("run", fifo, "--out", tmp_path / "runs"))],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        writing = os.open(fifo, os.O_WRONLY)  # returns when the command has opened it
        process.send_signal(ignored)
        os.write(writing, b"nonsense: 1\n")
        os.close(writing)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2, "it went on and read the workload"
    assert "nonsense" in said


LOGGING = """
import logging, sys
sys.argv = ["streamgauge", *sys.argv[1:]]
from streamgauge.cli import main
main._log(debug="-d" in sys.argv)
logging.getLogger("py4j.clientserver").debug("Command to send: A\\nthe-token")
logging.getLogger("py4j.java_gateway").error("Error while sending: the-token")
logging.getLogger("some.library").debug("at length")
logging.getLogger("some.library").warning("trouble")
logging.getLogger("streamgauge.stages").debug("measuring")
"""


@pytest.mark.parametrize(("flags", "said"), [(["-d"], ["trouble", "measuring"]), ([], [])])
def test_debug_tells_our_stages_and_no_protocol_and_no_token(flags: list[str], said: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOGGING, *flags], capture_output=True, text=True, timeout=60, check=True
    )
    assert [line.rpartition(": ")[2] for line in done.stderr.splitlines()] == said
    assert "the-token" not in done.stderr
