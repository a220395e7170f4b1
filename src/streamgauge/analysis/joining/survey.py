"""What has to be known of a whole case before any part of it can be joined.

When each producer began; how far every consumer read, and in which order; where damaged records lie. A
survey of a part of the events is as good as one of all: surveys are merged by adding them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.columns import PARTITION_KEY
from streamgauge.tables.column import fields
from streamgauge.tables.events import CORRUPT, INTACT

SURVEYED_OF_SENDS = ["producer", "intended_ns"]
SURVEYED_OF_RECEIVES = [
    "consumer",
    "arrival",
    "state",
    "producer",
    "sequence",
    "topic",
    "partition",
    "offset",
]

FIRSTS = pa.schema([("case", pa.string()), ("producer", pa.int32()), ("first_ns", pa.int64())])
"""One row: a producer that sent."""
REACH = pa.schema(
    [
        *PARTITION_KEY,
        *fields(pa.int32(), "consumer", "producer"),
        *fields(pa.int64(), "block", "last_offset", "last_sequence", "first_arrival", "last_arrival"),
        *fields(pa.int64(), "intact", "damaged"),
    ]
)
"""One row: what a consumer read of a partition; what was intact, by producer and block."""
DAMAGE = pa.schema([*PARTITION_KEY, *fields(pa.int64(), "offset", "corrupt_records", "foreign_records")])
"""One row: a place in a log at which damaged records were read, or ones that are not ours."""

_MERGED: dict[pa.Schema, dict[str, str]] = {
    FIRSTS: {"first_ns": "min"},
    REACH: {
        "last_offset": "max",
        "last_sequence": "max",
        "first_arrival": "min",
        "last_arrival": "max",
        "intact": "sum",
        "damaged": "sum",
    },
    DAMAGE: {"corrupt_records": "sum", "foreign_records": "sum"},
}


class Survey(NamedTuple):
    firsts: pa.Table
    reach: pa.Table
    damage: pa.Table

    @classmethod
    def of(cls, case: str, sends: pa.Table, receives: pa.Table, block: int) -> Survey:
        return cls(firsts_of(case, sends), reach_of(case, receives, block), damage_of(case, receives))

    @classmethod
    def merged(cls, surveys: Iterable[Survey]) -> Survey:
        parts = list(surveys)
        return cls(
            merged(FIRSTS, [part.firsts for part in parts]),
            merged(REACH, [part.reach for part in parts]),
            merged(DAMAGE, [part.damage for part in parts]),
        )

    def of_case(self, case: str) -> Survey:
        return Survey(*(table.filter(pc.field("case") == case) for table in self))


def firsts_of(case: str, sends: pa.Table) -> pa.Table:
    columns = {"producer": sends["producer"], "first_ns": sends["intended_ns"]}
    return _grouped(FIRSTS, case, columns)


def reach_of(case: str, receives: pa.Table, block: int) -> pa.Table:
    """A block is so many messages of a producer: the order of parts is known block by block."""
    is_intact = receives["state"].to_numpy() == INTACT
    sequence = receives["sequence"].to_numpy()
    mask = None if is_intact.all() else ~is_intact
    columns = {
        **{name: receives[name] for name in ("topic", "partition", "consumer")},
        "producer": pa.array(receives["producer"].to_numpy(), mask=mask),
        "block": pa.array(sequence // block, mask=mask),
        "last_offset": receives["offset"],
        "last_sequence": pa.array(sequence, mask=mask),
        "first_arrival": receives["arrival"],
        "last_arrival": receives["arrival"],
        "intact": is_intact.astype(np.int64),
        "damaged": (~is_intact).astype(np.int64),
    }
    return _grouped(REACH, case, columns)


def damage_of(case: str, receives: pa.Table) -> pa.Table:
    """Mostly there is none."""
    state = receives["state"].to_numpy()
    if (state == INTACT).all():
        return DAMAGE.empty_table()
    damaged = receives.filter(pa.array(state != INTACT))
    is_corrupt = damaged["state"].to_numpy() == CORRUPT
    columns = {
        **{name: damaged[name] for name in ("topic", "partition", "offset")},
        "corrupt_records": is_corrupt.astype(np.int64),
        "foreign_records": (~is_corrupt).astype(np.int64),
    }
    return _grouped(DAMAGE, case, columns)


def merged(schema: pa.Schema, parts: Sequence[pa.Table]) -> pa.Table:
    """Rows of several parts, of which some may be of the same thing."""
    return _by_keys(schema, pa.concat_tables([schema.empty_table(), *parts]))


def _grouped(schema: pa.Schema, case: str, columns: dict[str, Any]) -> pa.Table:
    if not len(next(iter(columns.values()))):
        return schema.empty_table()
    # The case is the same in all rows, so it need not be hashed.
    own = pa.schema([field for field in schema if field.name != "case"])
    found = _by_keys(schema, pa.table({f.name: columns[f.name] for f in own}).cast(own))
    return found.add_column(0, schema.field("case"), pa.array([case] * found.num_rows, pa.string()))


def _by_keys(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    how = _MERGED[schema]
    keys = [name for name in rows.column_names if name not in how]
    found = rows.group_by(keys, use_threads=False).aggregate(list(how.items()))
    names = {f"{name}_{function}": name for name, function in how.items()}
    renamed = found.rename_columns([names.get(name, name) for name in found.column_names])
    return renamed.select(rows.column_names).cast(rows.schema)
