"""Event files are checked before anybody reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.slices import RowGroup, row_groups
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import Table


def checked_events(run: RunDir, plan: Plan, table: Table) -> Iterator[RowGroup]:
    """Spark would read a missing column as nulls, and a folder of another plan as one more case."""
    cases = {case.id for case in plan.cases}
    for file in run.list_files(run.events(table.name), ".parquet"):
        case = file.removeprefix(run.events(table.name, "")).partition("/")[0]
        if case not in cases:
            raise CorruptRun(f"{run.url(file)}: is of case {case!r}, which plan.json does not have")
        yield from row_groups(table.name, case, file, _checked(run, file, table))


def case_row_groups(run: RunDir, case: str, table: Table) -> Iterator[RowGroup]:
    """The same of one case."""
    for file in run.list_files(run.events(table.name, case), ".parquet"):
        yield from row_groups(table.name, case, file, _checked(run, file, table))


def _checked(run: RunDir, file: str, table: Table) -> Any:
    """Its metadata."""
    try:
        with run.open_input(file) as stream:
            metadata = pq.read_metadata(stream)
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())
        raise CorruptRun(f"{run.url(file)}: cannot be read as Parquet: {why}") from error
    found = metadata.schema.to_arrow_schema()
    new = {column.name for column in table.columns if column.is_new}
    for field in table.arrow_schema():
        if field.name in new and field.name not in found.names:
            continue
        if field.name not in found.names or found.field(field.name).type != field.type:
            raise CorruptRun(f"{run.url(file)}: column {field.name} is not {field.type}")
    return metadata
