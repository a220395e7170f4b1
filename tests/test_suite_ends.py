"""The suite itself ends when it is told to: once, with all that its sessions have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.killing import Place
from tests.waiting import wait_for

ROOT = Path(__file__).parents[1]
BEGUN_S, END_S, GONE_S = 180.0, 90.0, 30.0
FIXTURES = """
import subprocess, sys
import pytest
from tests.conftest import kafka, pytest_configure, pytest_sessionfinish

@pytest.fixture(scope="session")
def beside():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        yield
        process.kill()
"""
TEST = """
import time
from pathlib import Path

def test_that_takes_for_ever({fixture}):
    Path({begun!r}).touch()
    time.sleep(3600)
"""


@pytest.mark.broker
@pytest.mark.process
@pytest.mark.timeout(2 * BEGUN_S)
def test_one_interrupt_ends_both_workers_with_their_brokers(tmp_path: Path) -> None:
    """One has the broker that tests of a process share, the other a process that it ends by itself."""
    place = Place(tmp_path, "")
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "conftest.py").write_text(FIXTURES)
    begun = {fixture: tmp_path / f"begun-{fixture}" for fixture in ("kafka", "beside")}
    for fixture, file in begun.items():
        (suite / f"test_{fixture}.py").write_text(TEST.format(fixture=fixture, begun=str(file)))
    options = ("-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", "--timeout", "900")
    with (tmp_path / "said.txt").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, f"--rootdir={ROOT}", suite],
            env={**place.environment, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
            cwd=ROOT,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        wait_for(lambda: process.poll() is not None or all(file.exists() for file in begun.values()), BEGUN_S)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.wait(END_S) == pytest.ExitCode.INTERRUPTED, place.said()
        wait_for(lambda: not place.processes(), GONE_S)
    finally:
        for left in place.processes():
            left.kill()
