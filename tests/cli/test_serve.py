from __future__ import annotations

import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from streamgauge.cli.serve import starters
from streamgauge.cli.workload_commands import workload_families
from streamgauge.serve.serving import TOKEN_VARIABLE
from streamgauge.serve.workload_text import workload_in
from tests.cli.streamgauge_command import command, in_process

DEADLINE_S = 120


@pytest.mark.process
@pytest.mark.parametrize("ending", [signal.SIGINT])
def test_it_prints_where_it_is_and_ends_well(tmp_path: Path, ending: signal.Signals) -> None:
    running = subprocess.Popen(
        command("serve", "--out", tmp_path / "runs", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
            assert b"There are no runs yet" in answer.read()
        running.send_signal(ending)
        _, told = running.communicate(timeout=DEADLINE_S)
    finally:
        running.kill()
        running.wait(DEADLINE_S)
    assert running.returncode == 0, told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--token-file", "nowhere"), "cannot be read"),
        (("--host", "0.0.0.0", "--token-file", "short"), "too short"),
        (("--host", "nowhere.invalid", "--port", "0"), "cannot listen there"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    (tmp_path / "short").write_text("abc\n")
    told = in_process("serve", *flags, cwd=tmp_path)
    assert told.returncode == 2
    assert words in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_every_command_that_makes_a_workload_begins_with_one_that_is_taken() -> None:
    """No comment in its stead: as it stands on the page, it can be started."""
    found = starters()
    families = workload_families()
    assert {"e2e", "sweep", "limit", "compare", "transports", "fanout"} <= set(found) == set(families)
    for name, starter in found.items():
        assert workload_in(starter.make()).kind == families[name].kind
