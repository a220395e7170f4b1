"""A run of a simulated broker with all that a run folder has."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.report.write import write_report
from tests.comparing.simulated_pairs import simulated

WORKLOAD = """\
kind: e2e
name: sim
targets: [{name: sim-0, driver: simulated, settings: {latency: {median_ms: 2}}}]
load: {messages: 4000, rate: 1000}
"""


def finished_run(folder: Path, median_ms: float = 2.0) -> RunDir:
    run = simulated(folder, median_ms, name="20260101-000000-sim-0001")
    run.write_text(run.workload, WORKLOAD)
    write_report(run)
    return run
