"""Agents as in a run, each in its own process, but led from here instead of from Spark tasks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bench.watched import ProcessWatch
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.registry import open_driver
from streamgauge.launch.child_process import ChildProcess
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

_DEADLINE_S = 600.0


def run_agents(
    folder: Path,
    target: dict[str, Any],
    load: dict[str, Any],
    *,
    keep_topic: bool = False,
    only_read: bool = False,
    watches: dict[str, ProcessWatch] | None = None,
) -> RunDir:
    """One case; its events are in the folder that comes back.

    `only_read`: no producer; consumers read what is there. `watches`: by agent, what was seen of its process.
    """
    workload = parse(Workload, {"name": "bench", "targets": [target], "load": load}, "bench")
    run = RunDir.create(str(folder), "bench")
    # The same tag for all, so that what one case wrote another may read.
    [case] = make_plan(workload, "bench").cases
    driver = open_driver(case.target, {})
    made = driver.prepare_topics(case.load.topics, case.topics)
    offsets = {} if only_read else driver.end_offsets(case.topics, case.load.topics.partitions)
    tasks = [task for task in case.agents if not (only_read and task.kind == "producer")]
    children = {task.agent: ChildProcess(run, task.agent) for task in tasks}
    watches = {} if watches is None else watches
    watches |= {name: ProcessWatch(child.pid) for name, child in children.items()}
    try:
        for task in tasks:
            children[task.agent].assign(Assignment.of(run, case, task, driver.endpoints(), offsets))
        for child in children.values():
            child.wait_for("ready", _DEADLINE_S)
        start = asdict(Start(now_ns() + NS_PER_S // 2))
        for child in children.values():
            child.say({"start": start})
        ends = []
        for name, child in children.items():
            if name.startswith("producer"):
                ends += child.wait_for("finished", _DEADLINE_S)
        for child in children.values():
            child.say({"producers_finished": ends})
        for name, child in children.items():
            done = child.wait_for("done", _DEADLINE_S)
            if done["outcome"] != "done":
                raise RuntimeError(f"{name}: {done['outcome']}: {done['reason']}")
    finally:
        for watch in watches.values():
            watch.close()
        for child in children.values():
            child.close()
        if not keep_topic:
            driver.remove_topics(made)
    return run


def column(run: RunDir, table: str, name: str) -> NDArray[np.int64]:
    """One column of an event table."""
    read = pq.ParquetDataset(run.url(run.events(table))).read(columns=[name])
    values: NDArray[np.int64] = read[name].to_numpy()
    return values
