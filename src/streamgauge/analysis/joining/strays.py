"""Records that belong to no message of their case: unexpected ones, and damage at no known place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import PARTITION_KEY, integers, message_keys
from streamgauge.analysis.joining.facts import CaseFacts
from streamgauge.analysis.joining.groups import group_rows
from streamgauge.analysis.joining.messages import Messages
from streamgauge.tables.column import fields

STRAYS = pa.schema([*PARTITION_KEY, *fields(pa.int64(), "corrupt", "unexpected", "duplicate")])
"""One row: a partition of a case, with its strays; a duplicate is a copy of a message that was rolled up."""
CLAIMED = pa.schema([*PARTITION_KEY, *fields(pa.int64(), "offset")])
"""One row: a place at which damage was read, and which is that of a message."""


def unsent(messages: Messages, receives: pa.Table) -> pa.Table:
    """Intact records of which no send is known."""
    if not len(messages.unsent_keys):
        return STRAYS.empty_table()
    keys = message_keys(integers(receives, "producer"), integers(receives, "sequence"))
    is_stray = np.isin(keys, messages.unsent_keys)
    places = group_rows([integers(receives, name)[is_stray] for name in ("topic", "partition")])
    topic, partition = places.keys
    zeros = np.zeros(places.count, np.int64)
    return _table(
        STRAYS,
        messages.facts,
        topic=topic,
        partition=partition,
        corrupt=zeros,
        unexpected=places.sizes(),
        duplicate=zeros,
    )


def claimed(messages: Messages) -> pa.Table:
    """Where damage is that of a message."""
    is_damaged = messages.corrupt_count > 0
    if not is_damaged.any():
        return CLAIMED.empty_table()
    columns = {
        "topic": messages.topic,
        "partition": messages.partition.values,
        "offset": messages.offset.values,
    }
    return _table(CLAIMED, messages.facts, **{name: values[is_damaged] for name, values in columns.items()})


def unclaimed(damage: pa.Table, claimed: pa.Table) -> pa.Table:
    """Damage that is of no message."""
    places = CLAIMED.names
    rest = damage.join(claimed.group_by(places).aggregate([]), places, join_type="left anti")
    summed = rest.group_by(STRAYS.names[:3]).aggregate(
        [("corrupt_records", "sum"), ("foreign_records", "sum")]
    )
    none = pa.array(np.zeros(summed.num_rows, np.int64))
    return summed.append_column("duplicate", none).rename_columns(STRAYS.names).cast(STRAYS)


def _table(schema: pa.Schema, facts: CaseFacts, **columns: np.ndarray) -> pa.Table:
    count = len(next(iter(columns.values())))
    found = {"case": pa.array([facts.case] * count, pa.string())} | columns
    return pa.table({name: pa.array(found[name]) for name in schema.names}).cast(schema)
