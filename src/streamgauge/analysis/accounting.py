"""Table `accounting`: every message and every record is counted somewhere."""

from __future__ import annotations

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
        **{name: strays[name] for name in strays.column_names},
        "second": pa.nulls(rows, pa.int32()),
        "phase": pa.array([MEASURE] * rows, pa.string()),
    }
    nothing = np.zeros(rows, np.int64)
    lone = pa.table({name: of_strays.get(name, nothing) for name in counted.column_names})
    both = pa.concat_tables([counted, lone.cast(counted.schema)])
    found = by_scope(both, dict.fromkeys(COUNTS, "sum"), also_by=["phase"])
    return found.select(ACCOUNTING.column_names).cast(ACCOUNTING.arrow_schema())
