"""What became of every update of a point: by name where clients were measured, else by count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.families.fanout.update_figures import OF_CASE, OF_HOST, UpdateFigures, hostnames_of

Row = dict[str, Any]


def accounts(clients: pa.Table, figures: UpdateFigures, shares: pa.Table | None = None) -> list[Row]:
    """One row: a case; with `shares`, a host of a case. `clients`: rows of that table."""
    strays, by = figures.strays, OF_CASE if shares is None else OF_HOST
    if shares is not None:
        clients, strays = (_on_hosts(rows, shares) for rows in (clients, strays))
    total = _each(clients.join(figures.named, ["case", "client"]), by).group_by(list(by))
    summed = total.aggregate([(name, "sum") for name in _SUMMED])
    unexpected = strays.group_by(list(by)).aggregate([("count", "sum")])
    of_strays = {tuple(row[name] for name in by): row["count_sum"] for row in unexpected.to_pylist()}
    return [
        {name.removesuffix("_sum"): value for name, value in row.items()}
        | {"unexpected": of_strays.get(tuple(row[name] for name in by))}
        for row in summed.to_pylist()
    ]


_SUMMED = (
    "clients",
    "expected",
    "received",
    "missing",
    "without_any",
    "duplicate",
    "measured_clients",
)


def _each(clients: pa.Table, by: Sequence[str]) -> pa.Table:
    """One row: a client."""
    distinct, copies = (pc.fill_null(clients[name], 0) for name in ("distinct", "copies"))
    updates, expected, is_measured = (clients[name] for name in ("updates", "expected", "is_measured"))
    got = pc.if_else(is_measured, distinct, pc.min_element_wise(updates, expected))
    again = pc.if_else(
        is_measured, pc.subtract(copies, distinct), pc.max_element_wise(pc.subtract(updates, expected), 0)
    )
    has_none = pc.and_(pc.greater(expected, 0), pc.equal(got, 0))
    counts = {
        "clients": pc.if_else(is_measured, 1, 1),
        "expected": expected,
        "received": updates,
        "missing": pc.max_element_wise(pc.subtract(expected, got), 0),
        "without_any": has_none.cast(pa.int64()),
        "duplicate": again,
        "measured_clients": is_measured.cast(pa.int64()),
    }
    return pa.table({**{name: clients[name] for name in by}, **counts})


def _on_hosts(rows: pa.Table, shares: pa.Table) -> pa.Table:
    """Those whose host is known."""
    names = hostnames_of(rows, shares)
    return rows.append_column("hostname", names).filter(names.is_valid())
