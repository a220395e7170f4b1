"""Which messages may be let go: all is known of them, all is well, and nobody else is judged by them.

What stays is as good as all for every question that is still open. So the records stay by which others are
judged: the last that each consumer read of a partition and the furthest, for who goes back; the latest
message of a stream that came, for what comes out of order; what was read before a record that went back, or
overtook one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import SEQUENCE_BITS, integers, message_keys, nullable
from streamgauge.analysis.joining.groups import Bools, Integers
from streamgauge.analysis.joining.messages import Messages
from streamgauge.tables.events import INTACT


class Going(NamedTuple):
    """Rows that may be let go."""

    sends: Bools
    receives: Bools


def may_go(
    messages: Messages, sends: pa.Table, receives: pa.Table, may: Bools, *, completions: bool
) -> Going:
    """`messages` are those of `sends`, row by row; `may`: who is not to stay for another reason."""
    keys = message_keys(messages.producer, messages.sequence)
    own = message_keys(integers(receives, "producer"), integers(receives, "sequence"))
    is_intact = integers(receives, "state") == INTACT
    is_well = may & ~messages.is_failed & ~messages.out_of_order & (messages.corrupt_count == 0)
    if completions:
        is_well &= messages.is_acked | messages.is_aborted
    if messages.facts.consumers:
        is_well &= messages.received_count == np.where(messages.is_aborted, 0, 1)
    else:
        is_well &= messages.received_count == 0
    is_well &= ~np.isin(keys, _misplaced(keys, sends, own, receives, is_intact))
    stays = ~is_intact | _judging_polls(receives) | _judging_order(receives, is_intact)
    is_well &= ~np.isin(keys, own[stays & is_intact])
    return Going(is_well, is_intact & ~stays & np.isin(own, keys[is_well]))


def _misplaced(
    keys: Integers, sends: pa.Table, own: Integers, receives: pa.Table, is_intact: Bools
) -> Integers:
    """Keys of messages at whose place another one is said to be, or which are said to be at two places."""
    partition, offset, acked = (nullable(sends, name) for name in ("partition", "offset", "acked_ns"))
    is_placed = partition.valid & offset.valid & acked.valid & ~sends["error"].is_valid().to_numpy()
    read = is_intact & (integers(receives, "offset") >= 0)
    key = np.concatenate([keys[is_placed], own[read]])
    if not len(key):
        return key
    places = [
        np.concatenate([of_sends[is_placed], integers(receives, name)[read]])
        for name, of_sends in (
            ("topic", integers(sends, "topic")),
            ("partition", partition.values),
            ("offset", offset.values),
        )
    ]
    order = np.lexsort((key, *reversed(places)))
    is_same_place = np.all([column[order][1:] == column[order][:-1] for column in places], axis=0)
    ordered = key[order]
    is_shared = is_same_place & (ordered[1:] != ordered[:-1])
    shared = np.concatenate([ordered[1:][is_shared], ordered[:-1][is_shared]])
    order = np.lexsort((*reversed(places), key))
    ordered = key[order]
    is_moved = (ordered[1:] == ordered[:-1]) & np.any(
        [column[order][1:] != column[order][:-1] for column in places], axis=0
    )
    return np.unique(np.concatenate([shared, ordered[1:][is_moved]]))


def _judging_polls(receives: pa.Table) -> Bools:
    """The last record of each reader of a partition, the furthest, whatever went back and what was before."""
    stays = np.zeros(receives.num_rows, bool)
    if not receives.num_rows:
        return stays
    streams = [integers(receives, name) for name in ("consumer", "topic", "partition")]
    order = np.lexsort((integers(receives, "arrival"), *reversed(streams)))
    offset = integers(receives, "offset")[order]
    is_same = np.all([column[order][1:] == column[order][:-1] for column in streams], axis=0)
    is_back = is_same & (offset[1:] <= offset[:-1])
    stays[order[1:][is_back]] = stays[order[:-1][is_back]] = True
    ends = np.append(np.flatnonzero(~is_same), len(order) - 1)
    stays[order[ends]] = True
    begins = np.concatenate(([0], ends[:-1] + 1))
    furthest = np.repeat(np.maximum.reduceat(offset, begins), np.diff(np.append(begins, len(order))))
    stays[order[offset == furthest]] = True
    return stays


def _judging_order(receives: pa.Table, is_intact: Bools) -> Bools:
    """The latest message of each stream that came, and whatever came before one that it overtook."""
    stays = np.zeros(receives.num_rows, bool)
    rows = np.flatnonzero(is_intact)
    if not len(rows):
        return stays
    names = ("consumer", "producer", "topic", "partition")
    streams = [integers(receives, name)[rows] for name in names]
    order = np.lexsort((integers(receives, "arrival")[rows], *reversed(streams)))
    is_new = np.ones(len(rows), bool)
    is_new[1:] = np.any([column[order][1:] != column[order][:-1] for column in streams], axis=0)
    # Each stream counts from a level above all of the one before, so one running maximum serves all.
    level = ((np.cumsum(is_new) - 1) << SEQUENCE_BITS) + integers(receives, "sequence")[rows][order]
    reached = np.maximum.accumulate(level)
    # Where the running maximum was reached first.
    is_further = np.append(True, reached[1:] > reached[:-1])
    holder = np.maximum.accumulate(np.where(is_further, np.arange(len(rows)), 0))
    is_late = np.append(False, level[1:] < reached[:-1])
    ends = np.append(np.flatnonzero(is_new)[1:], len(rows)) - 1
    stays[rows[order[holder[ends]]]] = True
    stays[rows[order[holder[is_late]]]] = True
    return stays
