"""Table `ranges`: last minus first of each of the four times in each scope."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.scopes import SPANS, by_scope, measured, result
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import RANGES

_TIMES = ("sent", "acked", "broker", "received")


def ranges(cells: pa.Table) -> pa.Table:
    """One row: a scope."""
    scopes = by_scope(measured(cells), SPANS)
    spans = {f"{time}_s": range_s(scopes, time) for time in _TIMES}
    return result(RANGES, {name: scopes[name] for name in scopes.column_names} | spans)


def range_s(scopes: pa.Table, time: str) -> pa.ChunkedArray:
    """Null where there is none."""
    span_ns = pc.subtract(scopes[f"{time}_last_ns"], scopes[f"{time}_first_ns"])
    return pc.divide(span_ns.cast(pa.float64()), float(NS_PER_S))
