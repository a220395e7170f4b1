"""By how much a sample of the messages of each case compresses, as its producers found before they began."""

from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan


def compression_ratios(run: RunDir, plan: Plan) -> dict[str, float]:
    """By case; producers of a case send alike, so the first that tells stands for all."""
    found: dict[str, float] = {}
    for case in plan.cases:
        if case.load.compression == "none":
            continue
        for task in case.agents:
            path = run.manifest(case.id, task.agent)
            if task.kind == "producer" and run.has(path):
                told = run.read_json(path)
                if (ratio := told.get("compression_ratio")) is not None:
                    found[case.id] = ratio
                    break
    return found
