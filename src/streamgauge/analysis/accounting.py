"""Table `accounting`: every message and every record is counted somewhere."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.cells import COUNTS
from streamgauge.analysis.scopes import by_scope
from streamgauge.tables.results import ACCOUNTING, MEASURE

_PLACE = ("case", "topic", "partition", "second", "phase")


def accounting(cells: pa.Table, strays: pa.Table) -> pa.Table:
    """`strays` have no message, so no second and no phase: they count as measured."""
    counted = cells.select([*_PLACE, *COUNTS])
    rows = strays.num_rows
    of_strays = {
        **{name: strays[name] for name in ("case", "topic", "partition", "corrupt", "unexpected")},
        "second": pa.nulls(rows, pa.int32()),
        "phase": pa.array([MEASURE] * rows, pa.string()),
    }
    nothing = np.zeros(rows, np.int64)
    lone = pa.table({name: of_strays.get(name, nothing) for name in counted.column_names})
    both = pa.concat_tables([counted, lone.cast(counted.schema)])
    found = by_scope(both, dict.fromkeys(COUNTS, "sum"), also_by=["phase"])
    return found.select(ACCOUNTING.column_names).cast(ACCOUNTING.arrow_schema())


def not_arrived_count(counts: Mapping[str, int], *, has_consumers: bool, has_completions: bool) -> int:
    """Without delivery reports nothing is known to be acknowledged; but what was sent is to arrive."""
    if has_completions or not has_consumers:
        return 0
    return max(counts["sent"] - counts["failed"] - counts["received"] - counts["corrupt"], 0)
