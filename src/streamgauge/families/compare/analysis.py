"""Trials → comparisons. The few thousand rows are read, computed and written in one place, because Holm's
correction needs all of them at once (docs/decisions/0009)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from streamgauge.analysis.result_rows import write_rows
from streamgauge.analysis.storage import read_few_events
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.families.compare.comparisons import comparisons, repetitions
from streamgauge.families.compare.event_tables import CLIENT_SETTINGS, TRIALS
from streamgauge.families.compare.result_tables import APPLIED_SETTINGS, COMPARISONS, REPETITIONS
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import Table
from streamgauge.tables.events import SAMPLES
from streamgauge.tables.results import CAUSES


def compare(run: RunDir, plan: Plan) -> None:
    """Compute every result table of a comparison."""
    [case] = plan.cases

    def write(table: Table, rows: list[dict[str, Any]]) -> None:
        write_rows(run, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))

    trials, samples = (read_few_events(run, table).to_pylist() for table in (TRIALS, SAMPLES))
    ended = read_status(run).cases.get(case.id)
    write(REPETITIONS, repetitions(trials))
    compared, causes = comparisons(trials, case, ended, samples)
    write(COMPARISONS, compared)
    write(CAUSES, causes)
    write(APPLIED_SETTINGS, read_few_events(run, CLIENT_SETTINGS).to_pylist())
