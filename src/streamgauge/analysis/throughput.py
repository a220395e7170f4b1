"""Table `throughput`: messages and bytes a second.

n events that span a range have n − 1 gaps in it, so their rate is (n − 1) / range; it is
null where there is no range. In the scope of one second a message is counted in the
second of its *own* time (sent, acked, received), not of its intended time: otherwise a
backlog would look like a second of high throughput.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.cells import OWN_SECONDS
from streamgauge.analysis.ranges import range_s
from streamgauge.analysis.scopes import SPANS, by_scope, measured, merged_by, result
from streamgauge.tables.results import CASE, PARTITION, SECOND, THROUGHPUT, TOPIC

_AMOUNTS = {"messages": "count", "bytes": "bytes"}


def throughput(cells: pa.Table) -> pa.Table:
    """One row: a scope."""
    own = measured(cells)
    scopes = by_scope(own, SPANS, scopes=[CASE, TOPIC, PARTITION])
    rates = {name: rate for event in OWN_SECONDS for name, rate in _rates(scopes, event).items()}
    wide = result(THROUGHPUT, {name: scopes[name] for name in scopes.column_names} | rates)
    return pa.concat_tables([wide, _by_own_second(own)])


def _rates(scopes: pa.Table, event: str) -> dict[str, pa.Array]:
    seconds = range_s(scopes, event).fill_null(0.0).to_numpy()
    count = scopes[f"{event}_count"].fill_null(0).to_numpy()
    size = scopes[f"{event}_bytes"].fill_null(0).to_numpy()
    has_range = (count > 1) & (seconds > 0)
    span_s, events = np.where(has_range, seconds, 1.0), np.where(has_range, count, 1)
    gaps = events - 1
    return {
        f"{event}_messages_per_s": pa.array(gaps / span_s, mask=~has_range),
        f"{event}_bytes_per_s": pa.array(size * gaps / events / span_s, mask=~has_range),
    }


def _by_own_second(cells: pa.Table) -> pa.Table:
    """A second without an event of one kind in it has a rate of 0 of that kind."""
    names = {f"{event}_{unit}_per_s": (event, unit) for event in OWN_SECONDS for unit in _AMOUNTS}
    parts = []
    for event in OWN_SECONDS:
        own = cells.filter(pc.field(f"{event}_second").is_valid())
        columns = {"case": own["case"], "second": own[f"{event}_second"]}
        for name, (of_event, unit) in names.items():
            amount = own[f"{event}_{_AMOUNTS[unit]}"].fill_null(0) if of_event == event else None
            columns[name] = amount if amount is not None else pa.array(np.zeros(own.num_rows, np.int64))
        parts.append(pa.table(columns))
    summed = merged_by(pa.concat_tables(parts), ["case", "second"], dict.fromkeys(names, "sum"))
    nothing = {name: pa.nulls(summed.num_rows) for name in ("topic", "partition")}
    scope = pa.array([SECOND] * summed.num_rows, pa.string())
    return result(
        THROUGHPUT, {name: summed[name] for name in summed.column_names} | nothing | {"scope": scope}
    )
