"""Scopes: the same aggregates for the whole case, each topic, each partition and each second.

Every table with scopes is merged from *cells*, one row per case, topic, partition and second: messages are
read once, not once a scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.cells import TIMES
from streamgauge.tables.column import Table
from streamgauge.tables.results import CASE, MEASURE, PARTITION, SECOND, TOPIC

MEMBERS: dict[str, tuple[str, ...]] = {
    CASE: (),
    TOPIC: ("topic",),
    PARTITION: ("topic", "partition"),
    SECOND: ("second",),
}
"""What tells the rows of a scope apart, beside the case."""
_WHERE = {"topic": pa.string(), "partition": pa.int32(), "second": pa.int32()}

SPANS = {
    f"{name}_{what}": how
    for name in TIMES
    for what, how in (("first_ns", "min"), ("last_ns", "max"), ("count", "sum"), ("bytes", "sum"))
}
"""The aggregates that merge the spans of cells into the span of a scope."""


def by_scope(
    cells: pa.Table,
    aggregates: Mapping[str, str],
    also_by: Sequence[str] = (),
    scopes: Sequence[str] = (CASE, TOPIC, PARTITION, SECOND),
) -> pa.Table:
    """Cells merged, column by column; one whose partition or second is unknown has no row in that scope."""
    return pa.concat_tables([_merged(cells, aggregates, also_by, scope) for scope in scopes])


def merged_by(cells: pa.Table, keys: Sequence[str], aggregates: Mapping[str, str]) -> pa.Table:
    """Rows with the same keys as one; columns keep their names."""
    found = cells.group_by(list(keys), use_threads=False).aggregate(list(aggregates.items()))
    names = {f"{name}_{how}": name for name, how in aggregates.items()}
    return found.rename_columns([names.get(name, name) for name in found.column_names])


def measured(cells: pa.Table) -> pa.Table:
    """Cells of the measured phase."""
    return cells.filter(pc.field("phase") == MEASURE)


def result(table: Table, columns: Mapping[str, object]) -> pa.Table:
    """Columns as a result table has them, in its order and with its types."""
    schema = table.arrow_schema()
    arrays = [_column(columns[field.name]).cast(field.type) for field in schema]
    return pa.table(arrays, schema=schema)


def _column(values: object) -> pa.ChunkedArray | pa.Array:
    return values if isinstance(values, pa.ChunkedArray) else pa.array(values)


def _merged(cells: pa.Table, aggregates: Mapping[str, str], also_by: Sequence[str], scope: str) -> pa.Table:
    members = MEMBERS[scope]
    found = merged_by(cells, ["case", *also_by, *members], aggregates)
    if members:
        found = found.filter(pc.field(members[-1]).is_valid())
    for name, kind in _WHERE.items():
        if name not in members:
            found = found.append_column(name, pa.nulls(found.num_rows, kind))
    found = found.append_column("scope", pa.array([scope] * found.num_rows, pa.string()))
    return found.select(["case", "scope", *_WHERE, *also_by, *aggregates])
