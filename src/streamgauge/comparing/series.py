"""Which runs are a series: of one workload, up to one of them; plans are asked first, being quickly read."""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge.comparing.histories import same_workload
from streamgauge.comparing.measured import MeasuredRun, measured_run
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.plan.plan_file import read_plan


def series_up_to(newest: RunDir, runs: Iterable[RunDir]) -> list[MeasuredRun]:
    """Oldest first. A run that cannot be read, or is not done, is no part of it."""
    last = measured_run(newest)
    wanted = last.document.name, last.document.kind
    earlier = [run for run in runs if run.id < newest.id and is_of(run, wanted)]
    return [*same_workload((measured_run(run) for run in earlier), last), last]


def is_of(run: RunDir, wanted: tuple[str, str]) -> bool:
    try:
        plan = read_plan(run)
        return (plan.name, plan.kind) == wanted and read_status(run).status == "ok"
    except CorruptRun:
        return False
