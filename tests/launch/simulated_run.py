"""Simulated runs without Spark agents: in simulated time producers and consumers need not overlap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.life import live_through
from streamgauge.agents.rendezvous import Ends, Levels, Start
from streamgauge.core.clock import NS_PER_S, ClockReading
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.drivers.registry import open_driver
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, make_plan, write_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload


class OneAfterAnother:
    """Producers first, each to its end; then consumers."""

    def __init__(self) -> None:
        self._start: Start | None = None

    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        # An hour ahead costs nothing in simulated time, and no agent is late for it.
        self._start = self._start or Start(reading.monotonic_ns + 3600 * NS_PER_S)
        return self._start

    def tell_levels(self, levels: Levels) -> None: ...

    def measured_slot(self) -> int | None:
        return None

    def finished(self, ends: Ends) -> None: ...

    def acked_ends(self) -> Ends:
        return {}

    def producers_finished(self) -> bool:
        return True

    def stopping(self) -> bool:
        return False


def simulate(tmp_path: Path, settings: list[dict[str, Any]], load: dict[str, Any]) -> tuple[RunDir, Plan]:
    """A run with one case for each simulated broker; its events are written, nothing is analysed."""
    targets = [
        {"name": f"sim-{number}", "driver": "simulated", "settings": given}
        for number, given in enumerate(settings)
    ]
    workload = parse(Workload, {"name": "sim", "targets": targets, "load": load}, "test")
    run = RunDir.create(str(tmp_path), "sim")
    plan = make_plan(workload, run.id)
    write_plan(plan, run)
    run.write_json(run.environment, {})
    for case in plan.cases:
        _simulate_case(run, case)
    cases = {case.id: CaseStatus("ok") for case in plan.cases}
    write_status(run, RunStatus(status="ok", cases=cases))
    return run, plan


def _simulate_case(run: RunDir, case: Case) -> None:
    driver = open_driver(case.target, {})
    driver.prepare_topics(case.load.topics, case.topics)
    rendezvous = OneAfterAnother()
    for task in case.agents:
        manifest = live_through(Assignment.of(run, case, task, driver.endpoints()), rendezvous)
        assert manifest.outcome == "done", manifest.reason
    driver.close()
