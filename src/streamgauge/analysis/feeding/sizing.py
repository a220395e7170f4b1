"""Spark settings by how much there is to analyse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_SMALL_ROWS = 1_000_000
"""Up to here what Spark does is not worth compiling."""
_ROWS_HERE = 4_000_000
"""Up to here this process is done before Spark's have started."""
_ROWS_IN_ONE_PIECE = 400_000
"""Of a case: up to here pieces cost more than they spare."""
_ROWS_BY_THREADS = 40_000_000
"""Up to here threads are done before Spark's processes are, which take seconds to start."""
_ROWS_A_PARTITION = 3_000_000
_MOST_PARTITIONS = 400

# It plans again after every shuffle; but the sizes are known here, and joins say how they are done.
_ALWAYS = {"spark.sql.adaptive.enabled": "false"}
_FOR_FEW = {
    **_ALWAYS,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Sending a table to all tasks is a job of its own; there is one task.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


def is_done_here(rows: int) -> bool:
    """So few that this process is done with them before Spark has planned how."""
    return rows <= _ROWS_HERE


def helps_in_pieces(rows: int, cases: int) -> bool:
    """Whether pieces of cases are worth their files."""
    return rows > _ROWS_IN_ONE_PIECE * cases


def are_few_for_spark(rows: int) -> bool:
    """So few that threads of this process are done first, where Spark has no other machine."""
    return rows <= _ROWS_BY_THREADS


def is_done_by_threads(rows: int, session: SparkSession) -> bool:
    return are_few_for_spark(rows) and str(session.sparkContext.master).startswith("local")


@contextmanager
def sized_for(session: SparkSession, rows: int) -> Iterator[None]:
    """Settings for so many events, until the block ends."""
    # Every slot gets as many partitions as the others, none more than fits its memory.
    slots = max(1, session.sparkContext.defaultParallelism)
    rounds = -(-rows // (_ROWS_A_PARTITION * slots))
    partitions = min(max(rounds, 1) * slots, _MOST_PARTITIONS)
    wanted = _FOR_FEW if rows <= _SMALL_ROWS else {"spark.sql.shuffle.partitions": str(partitions), **_ALWAYS}
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, kept in before.items():
            if kept is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, kept)
