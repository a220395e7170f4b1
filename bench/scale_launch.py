"""What agents cost the launcher: a crew is hired, led through one case on no broker, and dismissed."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.watched import Watch
from streamgauge.agents.assignment import Assignment
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.registry import open_driver
from streamgauge.launch.agents_folder import agents_folder
from streamgauge.launch.crew import Crew
from streamgauge.launch.spark_session import spark_session
from streamgauge.plan.plan_file import make_plan, write_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload
from streamgauge.tables.events import SENDS

_RATE_PER_S, _SECONDS = 80, 5
"""Messages of an agent: 256 of them fill a ring of memory, that nobody reads, to its end."""
_LEFT_BYTES = 2 << 30
"""Of memory, for everybody else."""


def fits(agents: int, mib_an_agent: float) -> bool:
    """Whether so many can be tried here without pushing others out of memory."""
    return agents * mib_an_agent * 2**20 < psutil.virtual_memory().available - _LEFT_BYTES


def launch_figures(folder: Path, agents: int) -> dict[str, float]:
    """Seconds to start, to agree and to end; messages a second; how far apart agents began; memory."""
    run = RunDir.create(str(folder), "launch")
    load = {
        "messages": agents * _RATE_PER_S * _SECONDS,
        "rate": agents * _RATE_PER_S,
        "producers": agents,
        "consumers": 0,
        "message": {"size": 32},
    }
    target = {"name": "ring", "driver": "simulated", "settings": {"time": "real"}}
    plan = make_plan(parse(Workload, {"targets": [target], "load": load}, "bench"), run.id)
    write_plan(plan, run)
    [case] = plan.cases
    driver = open_driver(case.target, {})
    try:
        driver.prepare_topics(case.topic_settings, case.topics)
        tasks = {task.agent: Assignment.of(run, case, task, driver.endpoints()) for task in case.agents}
        with spark_session(f"local[{agents}]", agents, folder / "spark.log", is_light=True) as session:
            return _led(session, run, tasks)
    finally:
        driver.close()
        shutil.rmtree(run.location)


def _led(session: Any, run: RunDir, tasks: dict[str, Assignment]) -> dict[str, float]:
    starts_ns: list[int] = []

    def note(since_ns: int) -> bool:
        starts_ns.append(since_ns)
        return False

    with agents_folder(run, None) as folder, _UsedMemory() as used:
        hired_s = time.time()
        crew = Crew(session, folder, list(tasks), {})
        try:
            manifests = crew.run_case(tasks, measuring=note)
            done_s = time.monotonic()
            ready_s, said_s = _times_of_words(run)
        finally:
            crew.dismiss()
        dismissed_s = time.monotonic()
    broken = [manifest.reason for manifest in manifests if manifest.outcome != "done"]
    if broken:
        raise RuntimeError(f"{len(broken)} of {len(tasks)} agents failed: {broken[0]}")
    first, last = _first_and_last_ns(run)
    return {
        "start_s": ready_s - hired_s,
        "agree_s": said_s - ready_s,
        "end_s": done_s - max(last) / NS_PER_S,
        "dismiss_s": dismissed_s - done_s,
        "messages_per_s": _sent(run) / ((max(last) - min(first)) / NS_PER_S),
        "skew_ms": (max(first) - min(first)) / 1e6,
        "late_ms": (max(first) - starts_ns[0]) / 1e6,
        "memory_mib": used.most_bytes / 2**20,
    }


def _times_of_words(run: RunDir) -> tuple[float, float]:
    """When the last agent said that it is ready, and when the launcher had named the start."""
    folder = run.local("live")
    ready_s = max(file.stat().st_mtime for file in folder.rglob("*.ready.json"))
    [said] = folder.rglob("start.json")
    return ready_s, said.stat().st_mtime


def _sends(run: RunDir) -> pa.Table:
    parts = []
    for file in run.list_files(run.events(SENDS.name), ".parquet"):
        with run.open_input(file) as stream:
            parts.append(pq.read_table(stream, columns=["producer", "sent_ns"]))
    return pa.concat_tables(parts)


def _sent(run: RunDir) -> int:
    return int(_sends(run).num_rows)


def _first_and_last_ns(run: RunDir) -> tuple[list[int], list[int]]:
    """Of each agent; all are on this host, and have one clock."""
    found = _sends(run).group_by("producer").aggregate([("sent_ns", "min"), ("sent_ns", "max")])
    return found["sent_ns_min"].to_pylist(), found["sent_ns_max"].to_pylist()


class _UsedMemory(Watch):
    """Of the machine, above what it was: processes share much, and a sum of theirs would count it often."""

    def __init__(self) -> None:
        super().__init__()
        self.most_bytes = 0
        self._free_bytes = psutil.virtual_memory().available

    def look(self) -> None:
        self.most_bytes = max(self.most_bytes, self._free_bytes - psutil.virtual_memory().available)
