"""What pieces of a case have to know of each other: which later messages came before theirs.

A message is out of order when a later one of its stream came before it, and the later one may be in another
piece. How early that was is known from the survey, block by block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.facts import Stream

Piece = tuple[int, int]
"""Sequences from … to before …; ends at a block's end."""
_Blocks = list[tuple[int, int, int]]
_STREAM = ("consumer", "producer", "topic", "partition")
_BLOCK = ("block", "first_arrival", "last_arrival")


def later_arrivals(reach: pa.Table, pieces: Sequence[Piece], block_size: int) -> list[dict[Stream, int]]:
    """For each piece of a case, the first arrival of what comes after it; of streams that it matters to."""
    found: list[dict[Stream, int]] = [{} for _ in pieces]
    for stream, blocks in _disordered(reach).items():
        for (low, high), later in zip(pieces, found, strict=True):
            own = [last for block, _, last in blocks if low <= block * block_size < high]
            beyond = [first for block, first, _ in blocks if block * block_size >= high]
            if own and beyond and min(beyond) < max(own):
                later[stream] = min(beyond)
    return found


def _disordered(reach: pa.Table) -> dict[Stream, _Blocks]:
    """Nearly all streams are in order: then no piece has to know of another. There may be millions of rows,
    so only those of the others become objects."""
    known = reach.filter(pc.is_valid(reach["producer"]))
    if not known.num_rows:
        return {}
    streams = [integers(known, name) for name in _STREAM]
    block, first, last = (integers(known, name) for name in _BLOCK)
    order = np.lexsort((block, *streams))
    streams = [column[order] for column in streams]
    is_same = np.logical_and.reduce([column[1:] == column[:-1] for column in streams])
    # In order: each block begins after the one before has ended; so the latest end is that of the last one.
    overtakes = is_same & (first[order][1:] < last[order][:-1])
    number = np.concatenate(([0], np.cumsum(~is_same)))
    rows = np.flatnonzero(np.isin(number, number[1:][overtakes]))
    blocks: dict[Stream, _Blocks] = defaultdict(list)
    for row in rows.tolist():
        consumer, producer, topic, partition = (int(column[row]) for column in streams)
        place = order[row]
        blocks[consumer, producer, topic, partition].append(
            (int(block[place]), int(first[place]), int(last[place]))
        )
    return blocks
