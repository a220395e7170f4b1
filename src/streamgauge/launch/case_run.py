"""One case from its topics to its manifests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.console import Console

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest
from streamgauge.agents.sampler import Sampler
from streamgauge.core import errors
from streamgauge.core.clock import clock_domain
from streamgauge.core.errors import AgentDied, CaseFailed, CorruptRun, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus
from streamgauge.drivers.contract import Driver
from streamgauge.launch.barrier_job import run_case
from streamgauge.launch.progress import CaseProgress
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.recording.parquet import EventFiles
from streamgauge.tables.events import SAMPLES

_LAST_WORDS_S = 6.0
"""How long the agents of a broken case have to write what they recorded."""


@dataclass
class CaseOutcome:
    status: CaseStatus
    client_settings: dict[str, Any] = field(default_factory=dict)
    fatal: StreamgaugeError | None = None
    """Why the run cannot go on."""


def run_one_case(
    session: SparkSession,
    run: RunDir,
    case: Case,
    driver: Driver,
    system: TargetSystem,
    environment: dict[str, str],
    *,
    debug: bool,
    console: Console,
    total_cases: int,
    show_progress: bool,
) -> CaseOutcome:
    """Make the topics, run the agents, sample the brokers meanwhile, delete the topics."""
    with _topics(case, driver):
        offsets = driver.end_offsets(case.topics, case.load.topics.partitions)
        endpoints = {**system.endpoints, **driver.endpoints()}
        assignments = [
            Assignment.of(run, case, task, endpoints, offsets, environment=environment, debug=debug)
            for task in case.agents
        ]
        with (
            _broker_samples(run, case, driver, system),
            CaseProgress(run, case, total_cases, console, show_progress),
        ):
            return _run_agents(session, run, case, assignments)


def _run_agents(session: SparkSession, run: RunDir, case: Case, assignments: list[Assignment]) -> CaseOutcome:
    try:
        manifests = run_case(session, assignments, clock_domain())
    except (Py4JError, PySparkException) as error:
        manifests = _last_words(run, case)
        died = [m.reason for m in manifests if m.outcome == "died" and m.reason]
        reason = "; ".join(died) or f"Spark ended the agents: {str(error).strip().splitlines()[0]}"
        return CaseOutcome(CaseStatus("partial", reason), fatal=AgentDied(f"case {case.id}: {reason}"))
    outcome = CaseOutcome(CaseStatus("ok"), _settings(manifests))
    failed = [m for m in manifests if m.outcome == "failed"]
    late = [m.agent for m in manifests if m.outcome == "timed_out"]
    if failed:
        reason = failed[0].reason or "an agent failed"
        outcome.status = CaseStatus("failed", reason)
        kind = getattr(errors, failed[0].error or "", CaseFailed)
        outcome.fatal = kind(f"case {case.id}: {reason}")
    elif late:
        reason = f"not done in time: {', '.join(late)} (load.time_limit, load.drain_timeout)"
        outcome.status = CaseStatus("partial", reason)
    return outcome


def _last_words(run: RunDir, case: Case) -> list[Manifest]:
    """The manifests of the agents that could still write one."""
    deadline = time.monotonic() + _LAST_WORDS_S
    expected = {task.agent for task in case.agents}
    while True:
        found: dict[str, Manifest] = {}
        for agent in sorted(expected):
            path = run.manifest(case.id, agent)
            if run.has(path):
                try:
                    found[agent] = Manifest(**run.read_json(path))
                except (CorruptRun, TypeError):
                    continue
        if len(found) == len(expected) or time.monotonic() > deadline:
            return list(found.values())
        time.sleep(0.1)


def _settings(manifests: list[Manifest]) -> dict[str, Any]:
    """Client settings in force: one producer's and one consumer's stand for all of their kind."""
    return {manifest.agent.partition("-")[0]: manifest.settings for manifest in reversed(manifests)}


@contextmanager
def _topics(case: Case, driver: Driver) -> Iterator[None]:
    made = driver.prepare_topics(case.load.topics, case.topics)
    try:
        yield
    finally:
        if not case.load.topics.keep:
            driver.remove_topics(made)


@contextmanager
def _broker_samples(run: RunDir, case: Case, driver: Driver, system: TargetSystem) -> Iterator[None]:
    """CPU, memory, network and disk of the brokers that we know, and of this machine."""
    if driver.capabilities.simulated_time:
        yield  # real samples say nothing about simulated seconds
        return
    sampler = Sampler({name: ("broker", pid) for name, pid in system.processes.items()}, machine=True)
    sampler.start()
    try:
        yield
    finally:
        sampler.stop()
        EventFiles(run, case.id, "launcher").write_rows(SAMPLES, sampler.rows)
