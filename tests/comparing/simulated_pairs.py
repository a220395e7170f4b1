"""Runs of simulated brokers, measured and analysed in this process, to be set side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import write_plan
from tests.launch.simulated_run import simulate

LOAD: dict[str, Any] = {"messages": 4000, "rate": 800}
"""Five seconds: of fewer nobody can tell whether they were at rest."""
KAFKA = {"kafka": "4.3.1", "bootstrap": "127.0.0.1:4711"}


def simulated(folder: Path, *medians_ms: float, seed: int = 1, name: str = "", **load: Any) -> RunDir:
    """A case for each median; `name`: of the folder, where its order matters."""
    settings = [
        {"seed": seed + number, "latency": {"law": "lognormal", "median_ms": median_ms, "sigma": 0.3}}
        for number, median_ms in enumerate(medians_ms)
    ]
    return of_laws(folder, settings, name=name, **load)


def of_laws(folder: Path, settings: list[dict[str, Any]], *, name: str = "", **load: Any) -> RunDir:
    """A case for each simulated broker that has these settings."""
    run, plan = simulate(folder, settings, {**LOAD, **load})
    if name:
        run = RunDir(str(run.local().rename(folder / name)))
        write_plan(plan.model_copy(update={"run": name}), run)
    run.write_json(run.environment, {"hostname": "bench-1", "systems": {"sim-0": KAFKA}})
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    return run


def with_environment(run: RunDir, **changed: Any) -> RunDir:
    run.write_json(run.environment, {**run.read_json(run.environment), **changed})
    return run


def not_valid(run: RunDir) -> RunDir:
    """As if it had broken off: its status says so, whatever its figures are."""
    status = run.read_json(run.status)
    status["cases"]["001"] |= {"status": "partial", "reason": "the machine was switched off"}
    run.write_text(run.status, json.dumps(status))
    return run
