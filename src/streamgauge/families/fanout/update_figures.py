"""What is to be known of all updates that measured clients got: few rows, whoever makes them of many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Integers
from streamgauge.tables.column import fields
from streamgauge.tables.results import PERCENTILES

OF_CASE = ("case",)
OF_HOST = ("case", "hostname")

_TIMES = fields(pa.float64(), "mean_ms", "sd_ms", "min_ms", "max_ms", *(f"{name}_ms" for name in PERCENTILES))
LATENCY = pa.schema([*fields(pa.string(), *OF_CASE), *fields(pa.int64(), "samples"), *_TIMES])
HOST_LATENCY = pa.schema([*fields(pa.string(), *OF_HOST), *fields(pa.int64(), "samples"), *_TIMES])
SECONDS = pa.schema(
    [
        *fields(pa.string(), *OF_CASE),
        *fields(pa.int64(), "second"),
        *fields(pa.bool_(), "is_warm_up"),
        *fields(pa.int64(), "samples"),
        *fields(pa.float64(), "p50_ms", "p99_ms", "max_ms"),
    ]
)
MEASURED_SECONDS = pa.schema(
    [*fields(pa.string(), *OF_CASE), *fields(pa.int64(), "second", "count"), *fields(pa.float64(), "p50")]
)
NAMED = pa.schema(
    [*fields(pa.string(), *OF_CASE), *fields(pa.int32(), "client"), *fields(pa.int64(), "distinct", "copies")]
)
STRAYS = pa.schema(
    [*fields(pa.string(), *OF_CASE), *fields(pa.int32(), "client"), *fields(pa.int64(), "count")]
)
COUNTS = pa.schema([*fields(pa.string(), *OF_CASE), *fields(pa.int64(), "latency_ms", "count")])


class UpdateFigures(NamedTuple):
    """Latencies are of messages that count; a stray is an update that nobody sent."""

    latency: pa.Table
    host_latency: pa.Table
    seconds: pa.Table
    """By when messages were due, since the case's first, warm-up and all."""
    measured_seconds: pa.Table
    """The same, of messages that count alone."""
    named: pa.Table
    """Of each measured client: how many messages it got, and how many updates they were."""
    strays: pa.Table
    counts: pa.Table
    """By whole milliseconds, rounded down."""


SCHEMAS = UpdateFigures(LATENCY, HOST_LATENCY, SECONDS, MEASURED_SECONDS, NAMED, STRAYS, COUNTS)


def hostnames_of(rows: pa.Table, shares: pa.Table) -> pa.Array:
    """Of each row's client, null where nobody knows; `shares`: of `hosts.share_rows`."""
    places = places_of(rows, shares)
    return shares["hostname"].combine_chunks().take(pa.array(places, mask=places < 0))


def places_of(rows: pa.Table, shares: pa.Table, of_case: str = "case") -> Integers:
    """The row of `shares` that has each row's client; -1: none has. `of_case`: its name for the case."""
    places = np.full(rows.num_rows, -1)
    clients = integers(rows, "client")
    for case in pc.unique(shares[of_case]).to_pylist():
        own = np.flatnonzero(pc.equal(shares[of_case], case).to_numpy())
        own = own[np.argsort(integers(shares, "first")[own])]
        firsts, ends = (integers(shares, name)[own] for name in ("first", "end"))
        theirs = np.flatnonzero(pc.equal(rows["case"], case).to_numpy())
        found = np.searchsorted(firsts, clients[theirs], side="right") - 1
        is_known = (found >= 0) & (clients[theirs] < ends[found])
        places[theirs[is_known]] = own[found[is_known]]
    return places
