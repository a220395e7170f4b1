"""What whole runs on this machine are apart by, as `diff` takes it: from earlier runs, or what is usual."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.cli.machine_noise import POWER_AND_SIGNIFICANCE
from streamgauge.comparing.between_runs import FEWEST_RUNS, USUAL, USUAL_PERCENT, Spread, learned_spread
from streamgauge.comparing.measured import case_settings
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.run_dir import runs_in
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.results import stored_document
from streamgauge.spec.metrics import percentile

_LOOKED_AT = 30
"""Runs, the newest first, among which one is to be of messages."""


@dataclass(frozen=True)
class RunsNoise:
    run_count: int
    """Earlier runs that said so; 0: too few, and it is what is usual."""
    workload: str
    detectable_p50_percent: float
    """Two single runs whose p50 is apart by less cannot be told apart."""
    detectable_p99_percent: float

    @property
    def words(self) -> str:
        apart = (
            f"two single runs are told apart if their p50 differs by about "
            f"{self.detectable_p50_percent:.0f}% or more, or their p99 by {self.detectable_p99_percent:.0f}%"
        )
        if self.run_count:
            return f"by {self.run_count} runs of {self.workload} on this machine, {apart}"
        return (
            f"not known yet: diff learns it from {FEWEST_RUNS} valid runs of one workload on this machine, "
            f"and until then takes runs to be {USUAL_PERCENT:g}% apart (tails {2 * USUAL_PERCENT:g}%). By "
            f"that, {apart}"
        )


def runs_noise(folder: str) -> RunsNoise:
    """Of the workload of the newest run of messages there."""
    runs = list(runs_in(folder))
    for run in runs[::-1][:_LOOKED_AT]:
        try:
            document = stored_document(run)
        except StreamgaugeError:
            continue
        if isinstance(document, CasesDocument) and document.cases:
            host = document.environment.get("hostname")
            spread = learned_spread(runs, (document.name, document.kind), host)
            if spread.run_count:
                return _noise(spread.run_count, document.name, spread, case_settings(document.cases[0]))
            break
    return _noise(0, "", USUAL, {})


def _noise(run_count: int, workload: str, spread: Spread, settings: Mapping[str, Any]) -> RunsNoise:
    found = []
    for name in ("p50", "p99"):
        metric = percentile(name)
        assert metric is not None
        sd, _ = spread.sd(settings, metric)
        found.append(100 * math.expm1(POWER_AND_SIGNIFICANCE * math.sqrt(2) * sd))
    return RunsNoise(run_count, workload, *found)
