"""The same analysis on a cluster of one and of two followers, each on one core of this machine (Linux)."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import MutableMapping
from contextlib import ExitStack
from pathlib import Path

from streamgauge.analysis.pipeline import analyze
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.shared_secret import SECRET_VARIABLE
from streamgauge.launch.spark_session import spark_session
from streamgauge.launch.standalone import Follower, Leader

_PORT = 17_177
_START_DEADLINE_S = 60.0


def seconds_on_workers(
    folder: Path, run: RunDir, warm_up: RunDir, workers: int, environment: MutableMapping[str, str]
) -> float:
    """Wall seconds of the analysis of a run that all see; before it another one, in which Java compiles."""
    secret = secrets.token_hex(16)
    environment[SECRET_VARIABLE] = secret
    port = _PORT + workers
    with ExitStack() as stack:
        leader = stack.enter_context(Leader("127.0.0.1", port, secret, folder / f"master-{workers}.log"))
        _wait_for(leader, 0)
        for number in range(workers):
            follower = stack.enter_context(
                Follower(
                    ("127.0.0.1", port),
                    name=f"f{number}",
                    host=f"127.0.0.{2 + number}",
                    cores=1,
                    secret=secret,
                    folder=folder / f"follower-{workers}-{number}",
                )
            )
            # Spark only counts tasks: Java and the Python beside it would take an idle second core, too.
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(follower.process.pid, {cores[number % len(cores)]})
        _wait_for(leader, workers)
        session = stack.enter_context(spark_session(leader.master, workers, folder / f"spark-{workers}.log"))
        analyze(session, warm_up)
        begin = time.perf_counter()
        analyze(session, run)
        return time.perf_counter() - begin


def _wait_for(leader: Leader, followers: int) -> None:
    deadline = time.monotonic() + _START_DEADLINE_S
    while (here := leader.followers()) is None or len(here) < followers:
        if leader.has_ended or time.monotonic() > deadline:
            raise RuntimeError(f"the cluster did not come up: {leader.log}")
        time.sleep(0.2)
