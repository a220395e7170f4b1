"""Tables as Spark knows them."""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as fn
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


def columns_of(table: Table) -> list[SparkColumn]:
    """What a result ends in: `select(*columns_of(TABLE))` gives its order and its types."""
    return [fn.col(c.name).cast(_SPARK[c.kind]).alias(c.name) for c in table.columns]
