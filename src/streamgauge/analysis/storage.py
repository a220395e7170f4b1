"""Events in, results out: how the stages of the analysis read and write tables.

Where pyarrow reaches the run folder but Spark only with a jar of the cloud's (`s3a://`, `gs://`), tasks read
and write by pyarrow as agents do: one set of credentials, and nothing to add to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from streamgauge.analysis.result_rows import write_rows
from streamgauge.analysis.schema import spark_schema
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.column import Column, Table

_CASE = Column("case", "string", "id of the case, from the folder's name")
_ROWS_A_BATCH = 1 << 16


def read_events(session: SparkSession, run: RunDir, table: Table) -> DataFrame:
    """All rows of an event table, with their case; none when there is no file."""
    with_case = Table(table.name, table.row, (*table.columns, _CASE))
    folder = run.events(table.name)
    files = list(run.list_files(folder, ".parquet"))
    if not files:
        return session.createDataFrame(with_case.arrow_schema().empty_table())
    if run.is_in_a_cloud:
        return _read_by_tasks(session, run, table, files, spark_schema(with_case))
    return session.read.schema(spark_schema(with_case)).parquet(run.url(folder))


def read_few_events(run: RunDir, table: Table, case: str | None = None) -> pa.Table:
    """The same of a table with few rows, read here; of all cases unless one is named."""
    parts = [table.arrow_schema().append(pa.field("case", pa.string())).empty_table()]
    for file in run.list_files(run.events(table.name, case), ".parquet"):
        with run.open_input(file) as stream:
            parts.append(_with_case(run, table, file, pq.ParquetFile(stream).read()))
    return pa.concat_tables(parts)


def _with_case(run: RunDir, table: Table, file: str, rows: pa.Table) -> pa.Table:
    """Rows of an event file as the table has them today, and their case."""
    part = table.with_new_columns(rows).cast(table.arrow_schema())
    own = file.removeprefix(run.events(table.name, "")).partition("/")[0]
    return part.append_column("case", pa.array([own] * part.num_rows, pa.string()))


def _read_by_tasks(
    session: SparkSession, run: RunDir, table: Table, files: list[str], schema: StructType
) -> DataFrame:
    location = run.location

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        here = RunDir(location)
        for file in (name for batch in batches for name in batch.column(0).to_pylist()):
            with here.open_input(file) as stream:
                for part in pq.ParquetFile(stream).iter_batches(_ROWS_A_BATCH):
                    yield from _with_case(here, table, file, pa.table(part)).combine_chunks().to_batches()

    tasks = min(len(files), max(1, session.sparkContext.defaultParallelism))
    names = session.createDataFrame([(file,) for file in files], "file string")
    return names.repartition(tasks).mapInArrow(each, schema)


def local_frame(session: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows that are here, as a frame; in one piece, because Spark loses what follows an empty one."""
    return session.createDataFrame(rows.combine_chunks())


def write_messages(run: RunDir, table: Table, frame: DataFrame) -> None:
    """Write a table that may be large, in as many files as it has partitions."""
    folder = run.result(table.name)
    if not run.is_in_a_cloud:
        frame.write.mode("overwrite").parquet(run.url(folder))
        return
    run.remove(folder)
    location, schema = run.location, table.arrow_schema()

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = _number_of_task()
        with (
            RunDir(location).open_output(f"{folder}/part-{number:05d}.parquet") as stream,
            pq.ParquetWriter(stream, schema, compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_table(pa.table(batch).select(schema.names).cast(schema))
        yield from ()

    frame.mapInArrow(each, "task int").collect()


def _number_of_task() -> int:
    context = TaskContext.get()
    assert context is not None, "only tasks write parts"
    return context.partitionId()


def write_result(session: SparkSession, run: RunDir, table: Table, frame: DataFrame) -> DataFrame:
    """Write a small table as one sorted file, so that a re-run gives the same.

    It comes to the driver, and what is computed from it starts there: for a small table Spark needs longer
    to plan a write, to commit it and to read it back than for all the rest.
    """
    return local_frame(session, write_rows(run, table, frame.toArrow()))
