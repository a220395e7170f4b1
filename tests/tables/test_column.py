from __future__ import annotations

import pyarrow as pa

from streamgauge.tables.column import Column, Table


def test_a_table_becomes_a_schema_in_the_order_of_its_columns() -> None:
    table = Table(
        "t",
        "a row",
        (
            Column("b", "int64", "ns"),
            Column("a", "string", "a name", nullable=True),
            Column("c", "bool", "yes or no"),
        ),
    )
    assert table.column_names == ["b", "a", "c"]
    assert table.arrow_schema() == pa.schema(
        [
            pa.field("b", pa.int64(), nullable=False),
            pa.field("a", pa.string(), nullable=True),
            pa.field("c", pa.bool_(), nullable=False),
        ]
    )
