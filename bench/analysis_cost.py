"""What the analysis costs a million messages, at several sizes, on events made up for it."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pyspark.sql import SparkSession

from bench.duckdb_twin import duckdb_seconds
from bench.ratio import Ratio
from bench.watched import Watch
from streamgauge.analysis.pipeline import analyze
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.launch.spark_session import spark_session
from streamgauge.plan.plan_file import make_plan, write_plan
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload
from streamgauge.tables.events import MARKS, RECEIVES, SENDS

_PART = 131_072
"""As many rows as agents write at a time."""
_PARTITIONS = 4
EVENTS_A_MESSAGE = 2
"""It is sent, and received once."""
_GOALS = {1_000_000: "≤ 2", 10_000_000: "≤ 1.2", 2**63: "≤ 1.0"}
"""Against DuckDB, by the most messages."""


def analysis_bench(folder: Path, sizes: list[int], repeats: int) -> None:
    """Cost a message at several sizes, memory, and DuckDB on the same events, small sizes and large alike."""
    cores = os.cpu_count() or 1
    costs: dict[int, float] = {}
    spawned = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=spawned, max_tasks_per_child=1) as engine,
        spark_session("local[*]", log=folder / "spark.log") as session,
    ):
        tiny = made_up_run(str(folder), 3_000)
        first, then = (seconds(session, tiny) for _ in range(2))
        print(f"analysis of 3,000 messages: {first:.1f} s, {then:.1f} s when repeated", flush=True)
        seconds(session, made_up_run(str(folder), 600_000))  # the first large run of a session compiles
        for size in sizes:
            run = made_up_run(str(folder), size)
            goal = next(goal for most, goal in _GOALS.items() if size <= most)
            ratio = Ratio(f"analysis of {size:,} messages against DuckDB", goal)
            for _ in range(repeats):
                with PeakMemory(session) as peak:
                    ours = seconds(session, run)
                # In a process of its own: what it holds is not ours.
                theirs = engine.submit(duckdb_seconds, run, folder, cores).result()
                ratio.ours.append(ours / size * 1e6)
                ratio.theirs.append(theirs / size * 1e6)
            costs[size] = statistics.median(ratio.ours)
            print(ratio.line("s a million"), flush=True)
            print(
                f"… memory of the driver at its highest {peak.driver_bytes / 2**30:.1f} GiB (goal ≤ 4), with"
                f" tasks {peak.all_bytes / 2**30:.1f} GiB",
                flush=True,
            )
            shutil.rmtree(run.location)
    for small, large in itertools.pairwise(sizes):
        what = f"analysis at {large:,} against {small:,}, a message"
        print(f"{what:<52} {costs[large] / costs[small]:6.2f}×  (goal ≤ 1.1)", flush=True)


def seconds(session: SparkSession, run: RunDir) -> float:
    begin = time.perf_counter()
    analyze(session, run)
    return time.perf_counter() - begin


class PeakMemory(Watch):
    """The most that was held at once while the block lasts, by resident size."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.driver_bytes = 0
        """Of this process and of Java, in which Spark's own tasks run."""
        self.own_bytes = 0
        """Of this process alone, in which small tables are made."""
        self.all_bytes = 0
        """And of the Python processes that compute slices."""
        gateway: Any = session.sparkContext._gateway
        self._own, self._java = psutil.Process(), psutil.Process(gateway.proc.pid)

    def look(self) -> None:
        own = _resident_bytes(self._own)
        driver = own + _resident_bytes(self._java)
        tasks = sum(_resident_bytes(process) for process in self._java.children(recursive=True))
        self.own_bytes = max(self.own_bytes, own)
        self.driver_bytes = max(self.driver_bytes, driver)
        self.all_bytes = max(self.all_bytes, driver + tasks)


def _resident_bytes(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def made_up_run(folder: str, messages: int, producers: int = 1) -> RunDir:
    """A clean run at 100,000 messages a second with lognormal latencies; the producers take turns."""
    target = {"name": "made-up", "driver": "simulated"}
    load = {
        "messages": messages,
        "rate": 100_000,
        "producers": producers,
        "topics": {"partitions": _PARTITIONS},
    }
    workload = parse(Workload, {"targets": [target], "load": load}, "bench")
    run = RunDir.create(folder, "made-up")
    write_plan(make_plan(workload, run.id), run)
    write_status(run, RunStatus(status="ok", cases={"001": CaseStatus("ok")}))
    rng = np.random.default_rng(1)
    senders = [EventFiles(run, "001", f"producer-{number}") for number in range(producers)]
    consumer = EventFiles(run, "001", "consumer-0")
    # A producer's file holds as many rows as an agent writes at a time, so all of them go on together.
    for first in range(0, messages, _PART * producers):
        _write_part(senders, consumer, first, min(_PART * producers, messages - first), rng)
    clock = {
        "host": "h",
        "hostname": "h",
        "reference_offset_ns": 0,
        "reference_error_ns": 0,
        "silent_ns": None,
        "wall_offset_ns": 0,
    }
    agents = [*(("producer", n, files) for n, files in enumerate(senders)), ("consumer", 0, consumer)]
    for kind, number, files in agents:
        about = {"agent": f"{kind}-{number}", "kind": kind, "number": number, **clock}
        last = messages * 10_000
        times = {"start": 0, "measure_begin": 0, "measure_end": last, "drained": last}
        files.write_rows(
            MARKS, [{**about, "mark": m, "at_ns": t, "cpu_s": t / 1e9} for m, t in times.items()]
        )
    return run


def _write_part(
    senders: Sequence[EventFiles], consumer: EventFiles, first: int, count: int, rng: np.random.Generator
) -> None:
    number = np.arange(first, first + count)
    producer, sequence = number % len(senders), number // len(senders)
    intended = number * 10_000
    latency = (rng.lognormal(14, 0.5, count)).astype(np.int64)
    place: dict[str, Any] = {
        "partition": (number % _PARTITIONS).astype(np.int32),
        "offset": number // _PARTITIONS,
        "topic": np.zeros(count, np.int32),
        "producer": producer.astype(np.int32),
        "sequence": sequence,
        "size_bytes": np.full(count, 700, np.int32),
    }
    sends: dict[str, Any] = {
        **place,
        "intended_ns": intended,
        "sent_ns": intended + 20_000,
        "acked_ns": intended + latency // 2,
        "error": np.full(count, None),
    }
    receives: dict[str, Any] = {
        **place,
        "consumer": np.zeros(count, np.int32),
        "arrival": number,
        "state": np.zeros(count, np.int8),
        "broker_ms": (intended + latency // 2) // 1_000_000,
        "broker_time": np.full(count, 2, np.int8),
        "received_ns": np.maximum.accumulate(intended + latency),
    }
    for own, files in enumerate(senders):
        files.write(SENDS, {name: values[own :: len(senders)] for name, values in sends.items()})
    for begin in range(0, count, _PART):
        part = {name: values[begin : begin + _PART] for name, values in receives.items()}
        consumer.write(RECEIVES, part)
