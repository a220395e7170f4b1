"""Events in, results out: how the stages of the analysis read and write tables."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from streamgauge.analysis.schema import spark_schema
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.column import Column, Table

_CASE = Column("case", "string", "id of the case, from the folder's name")


def read_events(session: SparkSession, run: RunDir, table: Table) -> DataFrame:
    """All rows of an event table, with their case; none when there is no file."""
    with_case = Table(table.name, table.row, (*table.columns, _CASE))
    folder = run.events(table.name)
    if next(run.list_files(folder, ".parquet"), None) is None:
        return session.createDataFrame(with_case.arrow_schema().empty_table())
    return session.read.schema(spark_schema(with_case)).parquet(run.url(folder))


def write_result(
    session: SparkSession, run: RunDir, table: Table, frame: DataFrame, is_large: bool = False
) -> DataFrame:
    """Write the table and read it back; one sorted file, so that a re-run gives the same."""
    address = run.url(run.result(table.name))
    kept = frame if is_large else frame.repartition(1).sortWithinPartitions(*table.column_names)
    kept.write.mode("overwrite").parquet(address)
    return session.read.schema(spark_schema(table)).parquet(address)
