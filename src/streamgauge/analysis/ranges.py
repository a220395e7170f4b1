"""Table `ranges`: last minus first of each of the four times in each scope."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamgauge.analysis.cells import measured, merged_spans
from streamgauge.analysis.query import table_query
from streamgauge.analysis.scopes import by_scope
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import RANGES

_NAMES = {"sent": "sent_s", "acked": "published_s", "output": "output_s", "received": "consumed_s"}


def ranges(cells: DataFrame) -> DataFrame:
    """One row: a scope."""
    spans = ", ".join(f"{range_s(time)} as {name}" for time, name in _NAMES.items())
    scopes = by_scope(measured("{cells}"), merged_spans())
    return table_query(RANGES, f"select *, {spans} from ({scopes})", cells=cells)


def range_s(time: str) -> str:
    return f"(({time}_last_ns - {time}_first_ns) / {NS_PER_S})"
