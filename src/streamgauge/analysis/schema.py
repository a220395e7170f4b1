"""Tables as Spark knows them."""

from __future__ import annotations

from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from streamgauge.tables.column import Kind, Table

_SPARK: dict[Kind, DataType] = {
    "int8": ByteType(),
    "int32": IntegerType(),
    "int64": LongType(),
    "float64": DoubleType(),
    "string": StringType(),
    "bool": BooleanType(),
}


def spark_schema(table: Table) -> StructType:
    """The table's columns, in its order."""
    return StructType([StructField(c.name, _SPARK[c.kind], c.nullable) for c in table.columns])


def columns_of(table: Table) -> list[str]:
    """What a result ends in: `selectExpr(*columns_of(TABLE))` gives its order and its types."""
    return [f"cast(`{c.name}` as {_SPARK[c.kind].simpleString()}) as `{c.name}`" for c in table.columns]
