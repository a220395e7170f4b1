"""Reading result tables: all but `messages`, which is as large as the run was long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from streamgauge.core.errors import CorruptRun
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.findings import CaseVerification, Verification
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import NOT_ANALYSED, read_status
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.plan.plan_file import read_plan
from streamgauge.tables.column import Table
from streamgauge.tables.results import MESSAGES

Row = dict[str, Any]

_FAULTS: TypeAdapter[dict[str, list[FaultFigures]]] = TypeAdapter(dict[str, list[FaultFigures]])


@dataclass(frozen=True)
class ResultTables:
    """The result tables of one run, in memory."""

    tables: dict[str, pa.Table]
    verified: dict[str, CaseVerification] = field(default_factory=dict)
    """By case, what its verification found; a run of an older version has none."""
    faults: dict[str, list[FaultFigures]] = field(default_factory=dict)
    """By case, what the faults cost that were done to its system."""

    @classmethod
    def read(cls, run: RunDir) -> ResultTables:
        plan = read_plan(run)
        wanted = [table for table in result_tables_of(plan.kind) if table is not MESSAGES]
        tables = {table.name: read_result(run, table) for table in wanted}
        found = read_verification(run)
        verified = {} if found is None else {case.case: case for case in found.cases}
        return cls(tables, verified, _read_faults(run))

    def rows(self, table: Table, case: str, **equal: object) -> list[Row]:
        """Rows of one case, and of these only where each named column has the given value."""
        wanted = pc.field("case") == case
        for column, value in equal.items():
            wanted = wanted & (pc.field(column) == value)
        found: list[Row] = self.tables[table.name].filter(wanted).to_pylist()
        return found


def read_verification(run: RunDir) -> Verification | None:
    """As analysis left it; None: an older version analysed the run, or it is of a family without a log."""
    if not run.has(run.verification):
        return None
    try:
        return Verification.model_validate_json(run.read_text(run.verification))
    except ValidationError as error:
        raise CorruptRun(
            f"{run.url(run.verification)}: {error.errors()[0]['msg']}; "
            f"have it made again: streamgauge analyze {run.location}"
        ) from None


def _read_faults(run: RunDir) -> dict[str, list[FaultFigures]]:
    if not run.has(run.fault_figures):
        return {}
    try:
        return _FAULTS.validate_json(run.read_text(run.fault_figures))
    except ValidationError as error:
        raise CorruptRun(f"{run.url(run.fault_figures)}: {error.errors()[0]['msg']}") from None


def read_result(run: RunDir, table: Table) -> pa.Table:
    """One whole result table, its columns as `tables.results` has them."""
    files = result_files(run, table)
    if not files:
        raise missing_result(run, table)
    return pa.concat_tables([_read_file(run, path, table) for path in files])


def result_files(run: RunDir, table: Table) -> list[str]:
    """Where the rows of a result table are."""
    return [path for path in run.list_files(run.result(table.name), ".parquet") if not _hidden(path)]


def missing_result(run: RunDir, table: Table) -> CorruptRun:
    """Why a table is not there, and what to do."""
    # Results of an analysis before that failed now are still there, and are shown.
    if (status := read_status(run)).status == NOT_ANALYSED:
        return CorruptRun(f"{run.location}: {NOT_ANALYSED}: {status.reason}")
    return CorruptRun(
        f"{run.url(run.result(table.name))}: missing; run `streamgauge analyze {run.location}` first"
    )


def _hidden(path: str) -> bool:
    """Spark's unfinished and side files begin with `_` or `.`, and so do ours."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def _read_file(run: RunDir, path: str, table: Table) -> pa.Table:
    try:
        with run.open_input(path) as stream:
            content = table.with_new_columns(pq.read_table(stream))
        # Spark marks every column as nullable; what is null then shows as null in the report.
        wanted = pa.schema([field.with_nullable(True) for field in table.arrow_schema()])
        return content.cast(wanted)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CorruptRun(
            f"{run.url(path)}: cannot be read as result table `{table.name}`: {reason}; if an older version "
            f"made it: streamgauge analyze {run.location}"
        ) from None
