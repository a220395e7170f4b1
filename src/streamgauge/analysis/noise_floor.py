"""How late a bare pacer woke beside each case, as its producers' processes found."""

from __future__ import annotations

from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan


def noise_floors_ms(run: RunDir, plan: Plan) -> dict[str, float]:
    """The p99 by case; of several producers the highest, since each may be on a machine of its own. Cases
    without a schedule have none, nor have those of agents without compiled loops: it is then not known."""
    found: dict[str, float] = {}
    for case in plan.cases:
        for task in case.agents:
            path = run.manifest(case.id, task.agent)
            if task.kind != "producer" or not run.has(path):
                continue
            p99_ns = run.read_json(path).get("noise_floor", {}).get("p99_ns")
            if p99_ns is not None:
                found[case.id] = max(found.get(case.id, 0.0), p99_ns / NS_PER_MS)
    return found
