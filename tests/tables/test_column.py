from __future__ import annotations

import pyarrow as pa
import pytest

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


def test_files_of_older_runs_lack_new_columns() -> None:
    table = Table("t", "a row", (Column("a", "int64", "old"), Column("b", "int64", "new", True, is_new=True)))
    old = pa.table({"a": [1, 2], "gone": ["x", "y"]})
    assert table.with_new_columns(old).to_pydict() == {"a": [1, 2], "b": [None, None]}
    assert table.with_new_columns(old).schema.field("b").type == pa.int64()
    with pytest.raises(KeyError):
        table.with_new_columns(pa.table({"b": [1]}))
