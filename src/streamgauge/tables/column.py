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


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One row is `row`; the columns come in this order everywhere."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    def arrow_schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, _ARROW[c.kind], nullable=c.nullable) for c in self.columns])
