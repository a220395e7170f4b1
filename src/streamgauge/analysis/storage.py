"""Events in, results out: how the stages of the analysis read and write tables."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from streamgauge.analysis.schema import spark_schema
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.column import Column, Table

_CASE = Column("case", "string", "id of the case, from the folder's name")
_ONE_FILE = "part-00000.parquet"


def read_events(session: SparkSession, run: RunDir, table: Table) -> DataFrame:
    """All rows of an event table, with their case; none when there is no file."""
    with_case = Table(table.name, table.row, (*table.columns, _CASE))
    folder = run.events(table.name)
    if next(run.list_files(folder, ".parquet"), None) is None:
        return session.createDataFrame(with_case.arrow_schema().empty_table())
    return session.read.schema(spark_schema(with_case)).parquet(run.url(folder))


def read_few_events(run: RunDir, table: Table, case: str | None = None) -> pa.Table:
    """The same of a table with few rows, read here; of all cases unless one is named."""
    folder, schema = run.events(table.name, ""), table.arrow_schema()
    parts = [schema.append(pa.field("case", pa.string())).empty_table()]
    for file in run.list_files(run.events(table.name, case), ".parquet"):
        with run.open_input(file) as stream:
            part = table.with_new_columns(pq.ParquetFile(stream).read()).cast(schema)
        own = file.removeprefix(folder).partition("/")[0]
        parts.append(part.append_column("case", pa.array([own] * part.num_rows, pa.string())))
    return pa.concat_tables(parts)


def local_frame(session: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows that are here, as a frame; in one piece, because Spark loses what follows an empty one."""
    return session.createDataFrame(rows.combine_chunks())


def write_messages(session: SparkSession, run: RunDir, table: Table, frame: DataFrame) -> DataFrame:
    """Write a table that may be large, in as many files as it has partitions, and read it back."""
    address = run.url(run.result(table.name))
    frame.write.mode("overwrite").parquet(address)
    return session.read.schema(spark_schema(table)).parquet(address)


def write_result(session: SparkSession, run: RunDir, table: Table, frame: DataFrame) -> DataFrame:
    """Write a small table as one sorted file, so that a re-run gives the same.

    It comes to the driver, and what is computed from it starts there: for a small table Spark needs longer
    to plan a write, to commit it and to read it back than for all the rest.
    """
    return local_frame(session, write_rows(run, table, frame.toArrow()))


def write_rows(run: RunDir, table: Table, content: pa.Table) -> pa.Table:
    """Write a small table that is here already; returns it sorted."""
    rows = content.select(table.column_names).cast(table.arrow_schema())
    ordered = rows.sort_by([(name, "ascending") for name in table.column_names])
    folder = run.result(table.name)
    run.remove(folder)
    with run.open_output(f"{folder}/{_ONE_FILE}") as stream:
        pq.write_table(ordered, stream, compression="zstd")
    return ordered
