"""Spark settings by how much there is to analyse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_SMALL_ROWS = 300_000
"""Up to here, compiling code for a query takes longer than running it uncompiled."""
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


def for_few(session: SparkSession) -> SparkSession:
    """A session beside this one, with settings for tables of few rows."""
    few = session.newSession()
    for name, value in _FOR_FEW.items():
        few.conf.set(name, value)
    return few


@contextmanager
def sized_for(session: SparkSession, rows: int) -> Iterator[bool]:
    """Settings for so many events, until the block ends; says whether these are few."""
    is_small = rows <= _SMALL_ROWS
    # Every slot gets as many partitions as the others, none more than fits its memory.
    slots = max(1, session.sparkContext.defaultParallelism)
    rounds = -(-rows // (_ROWS_A_PARTITION * slots))
    partitions = min(max(rounds, 1) * slots, _MOST_PARTITIONS)
    wanted = _FOR_FEW if is_small else {"spark.sql.shuffle.partitions": str(partitions), **_ALWAYS}
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield is_small
    finally:
        for name, kept in before.items():
            if kept is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, kept)
