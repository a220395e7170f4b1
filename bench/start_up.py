"""What a case costs beyond the time that it measures: topics, clients, the agreed start, writing."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console

from streamgauge.core.clock import NS_PER_S
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.launch.run_cycle import RunCycle
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

GOAL_S = 2.0


@dataclass(frozen=True)
class StartUp:
    """Seconds of each case but the last, which nothing follows."""

    beyond_s: tuple[float, ...]
    measured_s: tuple[float, ...]

    def line(self) -> str:
        beyond, measured = statistics.median(self.beyond_s), statistics.median(self.measured_s)
        return (
            f"{'a case beyond its measured time':<44} {beyond:6.2f} s  (goal < {GOAL_S:g} s;"
            f" {len(self.beyond_s)} cases {min(self.beyond_s):.2f}–{max(self.beyond_s):.2f} s;"
            f" measured {measured:.2f} s each)"
        )


def start_up(bootstrap: str, folder: Path, scale: float) -> StartUp:
    """A sweep of short cases through the whole launcher: Spark, crew, agents."""
    partitions = [1, 2, 4, 8] if scale >= 1 else [1, 2]
    content: dict[str, Any] = {
        "name": "start-up",
        "targets": [{"name": "kafka", "driver": "kafka_confluent", "settings": {"bootstrap": bootstrap}}],
        "load": {
            "streams": "per_partition",
            "producers": 2,
            "consumers": 2,
            "duration": "1s",
            "rate": "2k/s",
            "topics": {"name": "start-up", "own_names": True},
        },
        "sweep": {"topics.partitions": partitions, "message.size": [64, 1024], "acks": ["1", "all"]},
    }
    workload = parse(Workload, content, "bench")
    cycle = RunCycle.new(
        workload,
        out=str(folder),
        master=None,
        live=LiveWish(LiveMode.off, None),
        console=Console(quiet=True),
        show_progress=False,
        debug=False,
    )
    cycle.measure(afterwards=lambda session: None)
    spans = [_span_ns(cycle.run, case.id) for case in cycle.plan.cases]
    return StartUp(
        beyond_s=tuple((after[0] - before[1]) / NS_PER_S for before, after in itertools.pairwise(spans)),
        measured_s=tuple((end - begin) / NS_PER_S for begin, end in spans[:-1]),
    )


def _span_ns(run: RunDir, case: str) -> tuple[int, int]:
    """From the first message sent to the last one received; of one host, so on one clock."""
    sent = pq.read_table(run.url(run.events("sends", case)), columns=["sent_ns"])["sent_ns"]
    received = pq.read_table(run.url(run.events("receives", case)), columns=["received_ns"])["received_ns"]
    return pc.min(sent).as_py(), pc.max(received).as_py()
