"""Tables as SQL over frames.

Text, because a column built from Python costs a call to Java for every operator in it: some 30,000 calls for
all tables of a run, several seconds whatever its size.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.schema import columns_of
from streamgauge.tables.column import Table


def query(text: str, **frames: DataFrame) -> DataFrame:
    """The rows of a query; `{name}` in its text stands for the frame of that name."""
    session = next(iter(frames.values())).sparkSession
    return session.sql(text, None, **frames)


def table_query(table: Table, text: str, **frames: DataFrame) -> DataFrame:
    """The rows of a query as rows of a result table: its columns in their order and with their types."""
    return query(f"select {', '.join(columns_of(table))} from ({text})", **frames)


def quoted(words: str) -> str:
    """Words as a literal."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"
