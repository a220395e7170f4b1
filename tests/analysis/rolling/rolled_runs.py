"""Runs with the events of made-up logs in many files, as agents leave them; and rolled up bit by bit."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.event_files import case_row_groups
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.rolling.step import Terms, roll_up
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import read_plan
from streamgauge.plan.roll_up_file import RollUp
from streamgauge.tables import events, results
from streamgauge.tables.column import Table
from tests.analysis.recorded import CaseEvents, Recorded, Row

COMPARED = [
    table
    for table in results.RESULT_TABLES
    if table not in (results.MESSAGES, results.CPU, results.RESOURCES, results.CLOCKS)
]


class ManyFiles(Recorded):
    """By agent, in their order, a few rows a file."""

    def __init__(self, folder: Path, rows: int) -> None:
        super().__init__(folder)
        self._rows = rows

    def _write_rows(
        self, table: Table, case_id: str, rows: list[Row], rows_a_group: int | None = None
    ) -> None:
        if table not in (events.SENDS, events.RECEIVES):
            super()._write_rows(table, case_id, rows, rows_a_group)
            return
        whose = "producer" if table is events.SENDS else "consumer"
        for number in sorted({row[whose] for row in rows}):
            own = [row for row in rows if row[whose] == number]
            for part in range(0, len(own), self._rows):
                content = pa.Table.from_pylist(own[part : part + self._rows], schema=table.arrow_schema())
                path = self.run.event_file(table.name, case_id, f"{whose}-{number}", part // self._rows)
                with self.run.open_output(path) as stream:
                    pq.write_table(content, stream)


def written(folder: Path, cases: list[CaseEvents], rows: int = 20) -> ManyFiles:
    run = ManyFiles(folder, rows)
    for case in cases:
        run.add(case)
    run.write()
    return run


def rolled_up(run: RunDir, until_ns: int, terms: Terms) -> list[RollUp]:
    """Every case, as far as it goes."""
    found = []
    for case in read_plan(run).cases:
        while True:
            groups = [
                group
                for table in (events.SENDS, events.RECEIVES)
                for group in case_row_groups(run, case.id, table)
            ]
            part = roll_up(run, case, AgentClocks({}, {}), groups, until_ns, terms)
            if part is None:
                break
            found.append(part)
    return found


def random_terms(random: Random) -> Terms:
    return Terms(most_sends=random.choice([30, 60, 200]), most_rows=100_000)


def result_rows(run: RunDir) -> dict[str, list[Any]]:
    """Everything that was found, in an order of its own."""
    found: dict[str, list[Any]] = {}
    for table in COMPARED:
        rows = ds.dataset(run.url(run.result(table.name))).to_table().to_pylist()
        found[table.name] = sorted(json.dumps(row, sort_keys=True) for row in rows)
    verification = run.read_json(run.verification)
    found["verification"] = [
        {key: case[key] for key in ("case", "acked", "received", "partitions", "not_checked")}
        | {"findings": {one["kind"]: one["count"] for one in case["findings"]}}
        for case in verification["cases"]
    ]
    return found
