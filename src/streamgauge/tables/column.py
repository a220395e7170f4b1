"""How a table is described: column by column, with units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

Kind = Literal["int8", "int32", "int64", "float64", "string", "bool"]

_ARROW: dict[Kind, pa.DataType] = {
    "int8": pa.int8(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
}


def fields(kind: pa.DataType, *names: str) -> list[tuple[str, pa.DataType]]:
    """Of an Arrow schema: columns of one kind, for tables that are never stored."""
    return [(name, kind) for name in names]


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    nullable: bool = False
    is_new: bool = False
    """Files of older runs may lack it: it is null there."""


@dataclass(frozen=True)
class Table:
    """One row is `row`; the columns come in this order everywhere."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    def with_new_columns(self, rows: pa.Table) -> pa.Table:
        """The rows with this table's columns, of which an older file lacks the new ones; else a KeyError."""
        for column in self.columns:
            if column.is_new and column.name not in rows.column_names:
                rows = rows.append_column(column.name, pa.nulls(rows.num_rows, _ARROW[column.kind]))
        return rows.select(self.column_names)

    def arrow_schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, _ARROW[c.kind], nullable=c.nullable) for c in self.columns])
