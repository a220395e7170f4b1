"""Spark's Java is ours from its first moment: whenever we are ended, it ends too."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from streamgauge.agents.forked_process import forked_agent
from streamgauge.core.guardian import temporary_folder, without_mark
from streamgauge.launch import python_daemon
from streamgauge.launch.spark_session import why_no_session
from tests.waiting import wait_for

STARTS_SPARK = """
from streamgauge.launch.spark_session import spark_session
with spark_session("local[1]"):
    print("up", flush=True)
"""
_VARIABLE = "STREAMGAUGE_TEST_MARK"


def with_variable(value: str) -> list[psutil.Process]:
    """Everything that was started with it in its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_VARIABLE) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.spark
@pytest.mark.parametrize(
    ("ending", "after_s"), [(signal.SIGINT, 0.0), (signal.SIGINT, 1.0), (signal.SIGKILL, 0.5)]
)
def test_no_java_is_left_when_we_are_ended_while_it_starts(
    ending: signal.Signals, after_s: float, tmp_path: Path
) -> None:
    value = secrets.token_hex(4)
    environment = {**without_mark(), _VARIABLE: value, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_SPARK], env=environment, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: [p for p in with_variable(value) if p.name() == "java"])
        time.sleep(after_s)
        os.kill(process.pid, ending)
    wait_for(lambda: not with_variable(value), 30)
    wait_for(lambda: not list(tmp_path.iterdir()), 10)


@pytest.mark.spark
def test_what_java_keeps_for_a_while_is_in_our_folder(spark: SparkSession) -> None:
    system = spark.sparkContext._jvm.java.lang.System  # type: ignore[union-attr]
    assert system.getProperty("java.io.tmpdir") == str(temporary_folder())


@pytest.mark.spark
def test_a_task_here_finds_imported_what_leads_an_agent(spark: SparkSession) -> None:
    needed = python_daemon._OF_EVERY_TASK
    loaded = spark.sparkContext.parallelize(needed, 1).map(lambda name: name in sys.modules)
    assert loaded.collect() == [True] * len(needed)


@pytest.mark.spark
def test_a_task_here_gets_its_agent_from_a_server(spark: SparkSession, tmp_path: Path) -> None:
    log = str(tmp_path / "agent.log")

    def agents_line(_: int) -> list[str]:
        with open(log, "ab") as stream:
            agent = forked_agent(stream)
        assert agent is not None
        line = psutil.Process(agent.pid).cmdline()
        agent.kill()
        agent.wait(30)
        return line

    [line] = spark.sparkContext.parallelize([0], 1).map(agents_line).collect()
    assert "streamgauge.agents.fork_server" in line


def test_a_leader_with_another_secret_is_told_from_what_else_keeps_spark_from_starting() -> None:
    told = "An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.\n: {}"
    silent = RuntimeError(
        told.format("java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.")
    )
    assert why_no_session(silent).startswith("the leader did not let this host in; has it the same secret (")
    assert why_no_session(RuntimeError("no Java\nat line 7")) == "Spark cannot start: no Java"
