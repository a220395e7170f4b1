"""One case as one Spark barrier job: a task for every agent, all at once.

Start is agreed through `allGather`, never by the barrier itself, which lets its tasks go up to two
seconds apart: all agree on a moment some time ahead, sleep, and begin.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import asdict
from typing import Any

from pyspark import BarrierTaskContext, SparkContext
from pyspark.sql import SparkSession

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest, write_manifest
from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import NS_PER_S, ClockReading
from streamgauge.core.errors import AgentDied
from streamgauge.launch.child_process import ChildProcess, leave_now

LEAD_S = 2.5
"""From the last agent's being ready to the start: longer than allGather takes to let all go."""
_READY_DEADLINE_S = 120.0
_DONE_MARGIN_S = 120.0
_LOOK_S = 0.2
_NTP_ERROR_NS = 10_000_000
_CANCEL_DEADLINE_S = 10.0


def run_case(session: SparkSession, assignments: list[Assignment], driver_host: str) -> list[Manifest]:
    """Run all agents of a case to their end; raises whatever Spark raises when one of them dies."""
    context = session.sparkContext
    tasks = [assignment.model_dump_json(by_alias=True) for assignment in assignments]

    def task(lines: Iterable[str]) -> Iterable[str]:
        return _run_agents(lines, driver_host)

    stage = context.parallelize(tasks, len(tasks)).barrier().mapPartitions(task)
    return [Manifest(**json.loads(manifest)) for manifest in _interruptibly(stage.collect, context)]


def _interruptibly(collect: Callable[[], list[str]], context: SparkContext) -> list[str]:
    """Run the job in a thread: a Ctrl-C in the middle of Spark's own protocol would break it."""
    job: Future[list[str]] = Future()

    def run() -> None:
        try:
            job.set_result(collect())
        except BaseException as error:  # handed to the thread that waits
            job.set_exception(error)

    # A daemon, so that a job that cannot be cancelled keeps nobody from ending.
    threading.Thread(target=run, name="barrier-job", daemon=True).start()
    try:
        while True:
            try:
                return job.result(timeout=_LOOK_S)
            except TimeoutError:
                if job.done():
                    raise
    except KeyboardInterrupt:
        context.cancelAllJobs()
        wait([job], _CANCEL_DEADLINE_S)
        raise


def _run_agents(lines: Iterable[str], driver_host: str) -> Iterator[str]:
    """What one Spark task does; it has one agent."""
    barrier = BarrierTaskContext.get()
    for line in lines:
        yield _run_agent(Assignment.model_validate_json(line), barrier, driver_host)


def _run_agent(assignment: Assignment, barrier: BarrierTaskContext, driver_host: str) -> str:
    def on_death(died: AgentDied) -> None:
        # The task's own thread may be waiting in allGather for agents that go on for long.
        run, agent = assignment.run_dir, assignment.task.agent
        try:
            if not run.has(run.manifest(assignment.case, agent)):
                write_manifest(assignment, Manifest(agent, assignment.case, "died", str(died)))
        finally:
            leave_now()

    child = ChildProcess(assignment, on_death)
    try:
        ready = child.wait_for("ready", _READY_DEADLINE_S)
        readings = [json.loads(message) for message in barrier.allGather(json.dumps(ready))]
        if any(reading is None for reading in readings):
            return json.dumps(
                child.wait_for("done", _READY_DEADLINE_S) if ready is None else _not_begun(assignment)
            )
        start = agree([ClockReading(**r) for r in readings], barrier.partitionId(), driver_host)
        child.say({"start": asdict(start)})
        if assignment.task.kind == "producer":
            child.wait_for("finished", assignment.load.time_limit + _DONE_MARGIN_S)
        barrier.allGather("")
        child.say({"producers_finished": True})
        done = child.wait_for("done", assignment.load.drain_timeout + _DONE_MARGIN_S)
        return json.dumps(done)
    finally:
        child.close()


def agree(readings: list[ClockReading], mine: int, driver_host: str) -> Start:
    """The same start for all, on the clock of the first agent's host, told to each on its own clock.

    Agents on one host share its clock. Between hosts the offset is that of their wall clocks, and the
    bound is what NTP usually holds them to; both are recorded, and shown with the results.
    """
    reference, own = readings[0], readings[mine]
    offsets = [
        0 if r.host == reference.host else r.wall_offset_ns - reference.wall_offset_ns for r in readings
    ]
    offset_ns = offsets[mine]
    latest_ns = max(r.monotonic_ns + offset for r, offset in zip(readings, offsets, strict=True))
    first_of_host = next(n for n, reading in enumerate(readings) if reading.host == own.host)
    return Start(
        at_ns=latest_ns + int(LEAD_S * NS_PER_S) - offset_ns,
        reference_offset_ns=offset_ns,
        reference_error_ns=0 if offset_ns == 0 else own.error_ns + reference.error_ns + _NTP_ERROR_NS,
        sample_machine=own.host != driver_host and mine == first_of_host,
    )


def _not_begun(assignment: Assignment) -> dict[str, Any]:
    reason = "another agent could not connect"
    return asdict(Manifest(assignment.task.agent, assignment.case, "stopped", reason))
