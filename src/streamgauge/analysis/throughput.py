"""Table `throughput`: messages and bytes a second.

A rate is that of the events *after* the first stamp, over the range of stamps. Where each has a stamp of its
own, n events have n − 1 gaps, and the rate is (n − 1) / range. But acks and records come in bunches with one
stamp for all: those of the first bunch took time before the range began, and must not count as done within
it. The rate is null where there is no range, and where more than half of the events are in the first bunch:
the range then speaks for too few of them.

Of a load without a pace the rate is what is asked for, and its first ack or record is of what had gathered
until then: what follows comes within no time, and would be told as a rate. So there the range begins where
the first message was sent, or where the warm-up's last event was, if that is later: what is done within it
is counted all, and took no less.

In the scope of one second a message is counted in the
second of its *own* time (sent, acked, received), not of its intended time: otherwise a
backlog would look like a second of high throughput.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.analysis.joining.cells import OWN_SECONDS
from streamgauge.analysis.ranges import range_s
from streamgauge.analysis.scopes import MEMBERS, SPANS, by_scope, measured, merged_by, result
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, PARTITION, SECOND, THROUGHPUT, TOPIC, WARM_UP

_AMOUNTS = {"messages": "count", "bytes": "bytes"}


def throughput(cells: pa.Table, without_pace: Collection[str] = ()) -> pa.Table:
    """One row: a scope. `without_pace`: cases whose producers send as fast as they can."""
    own = measured(cells)
    scopes = by_scope(own, SPANS, scopes=[CASE, TOPIC, PARTITION])
    rates: dict[str, pa.Array] = {}
    for event in OWN_SECONDS:
        begins_ns = _begins_ns(cells, scopes, event, without_pace)
        rates |= _rates(own, scopes, event, begins_ns)
    wide = result(THROUGHPUT, {name: scopes[name] for name in scopes.column_names} | rates)
    return pa.concat_tables([wide, _by_own_second(own)])


def _rates(
    cells: pa.Table, scopes: pa.Table, event: str, begins_ns: NDArray[np.int64]
) -> dict[str, pa.Array]:
    early_ns = scopes[f"{event}_first_ns"].fill_null(0).to_numpy() - begins_ns
    is_early = (begins_ns >= 0) & (early_ns > 0)
    seconds = range_s(scopes, event).fill_null(0.0).to_numpy()
    seconds = seconds + np.where(is_early, early_ns / NS_PER_S, 0.0)
    count = scopes[f"{event}_count"].fill_null(0).to_numpy()
    first = {what: np.where(is_early, 0, own) for what, own in _at_first(cells, scopes, event).items()}
    later = count - first["count"]
    is_known = (seconds > 0) & (2 * later >= count)
    span_s = np.where(is_known, seconds, 1.0)
    later_bytes = scopes[f"{event}_bytes"].fill_null(0).to_numpy() - first["bytes"]
    return {
        f"{event}_messages_per_s": pa.array(later / span_s, mask=~is_known),
        f"{event}_bytes_per_s": pa.array(later_bytes / span_s, mask=~is_known),
    }


def _at_first(cells: pa.Table, scopes: pa.Table, event: str) -> dict[str, NDArray[np.int64]]:
    """How many events of each scope, and how many bytes, bear its first stamp."""
    found = {what: np.zeros(scopes.num_rows, np.int64) for what in ("count", "bytes")}
    stamps = [table[f"{event}_first_ns"].fill_null(-1).to_numpy() for table in (cells, scopes)]
    for owner in _owners(cells, scopes):
        is_first = (owner >= 0) & (stamps[0] == stamps[1][owner])
        for what, amounts in found.items():
            own = cells[f"{event}_first_{what}"].fill_null(0).to_numpy()
            np.add.at(amounts, owner[is_first], own[is_first])
    return found


def _begins_ns(
    cells: pa.Table, scopes: pa.Table, event: str, without_pace: Collection[str]
) -> NDArray[np.int64]:
    """Of each scope that has no pace: when the first was sent, or the warm-up's last event before its own
    first; −1 where it is not known."""
    first_ns = scopes[f"{event}_first_ns"].fill_null(-1).to_numpy()
    begins_ns = np.array(scopes["sent_first_ns"].fill_null(-1).to_numpy())
    warm = cells.filter(pc.field("phase") == WARM_UP)
    last_ns = warm[f"{event}_last_ns"].fill_null(-1).to_numpy()
    for owner in _owners(warm, scopes):
        np.maximum.at(begins_ns, owner[owner >= 0], last_ns[owner >= 0])
    is_asked = np.isin(scopes["case"].to_numpy(), list(without_pace)) & (event != "sent")
    # What overlaps the warm-up begins with its own first stamp.
    return np.where(is_asked & (begins_ns < first_ns), begins_ns, -1)


def _owners(cells: pa.Table, scopes: pa.Table) -> Iterator[NDArray[np.int64]]:
    """For each kind of scope, of every cell the row of the scope that it is in; −1: none."""
    for scope, members in MEMBERS.items():
        rows = np.flatnonzero(scopes["scope"].to_numpy() == scope)
        number_of = {key: row for row, key in zip(rows, _keys(scopes.take(rows), members), strict=True)}
        yield np.array([number_of.get(key, -1) for key in _keys(cells, members)], np.int64)


def _keys(table: pa.Table, members: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(table[name].to_pylist() for name in ("case", *members)), strict=True)


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
