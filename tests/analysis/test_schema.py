import pytest
from pyspark.sql.types import IntegerType, LongType, StringType

from streamgauge.analysis.schema import spark_schema
from streamgauge.tables.events import EVENT_TABLES, SENDS
from streamgauge.tables.results import RESULT_TABLES


@pytest.mark.parametrize("table", [*EVENT_TABLES, *RESULT_TABLES], ids=lambda table: table.name)
def test_schema_has_the_columns_of_the_table_in_order(table):
    schema = spark_schema(table)

    assert schema.names == table.column_names
    assert [field.nullable for field in schema] == [column.nullable for column in table.columns]


def test_kinds_become_spark_types():
    schema = spark_schema(SENDS)

    assert schema["producer"].dataType == IntegerType()
    assert schema["sequence"].dataType == LongType()
    assert schema["error"].dataType == StringType()
