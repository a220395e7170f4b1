"""What pieces of a case have to know of each other: which later messages came before theirs.

A message is out of order when a later one of its stream came before it, and the later one may be in another
piece. How early that was is known from the survey, block by block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamgauge.analysis.joining.facts import Stream

Piece = tuple[int, int]
"""Sequences from … to before …; ends at a block's end."""
_Blocks = list[tuple[int, int, int]]


def later_arrivals(
    reach: Iterable[Mapping[str, Any]], pieces: Sequence[Piece], block_size: int
) -> list[dict[Stream, int]]:
    """For each piece of a case, the first arrival of what comes after it; of streams that it matters to."""
    streams: dict[Stream, _Blocks] = defaultdict(list)
    for row in reach:
        if row["producer"] is not None:
            stream = (row["consumer"], row["producer"], row["topic"], row["partition"])
            streams[stream].append((row["block"], row["first_arrival"], row["last_arrival"]))
    found: list[dict[Stream, int]] = [{} for _ in pieces]
    for stream, blocks in streams.items():
        blocks.sort()
        if not _is_in_order(blocks):
            for (low, high), later in zip(pieces, found, strict=True):
                own = [last for block, _, last in blocks if low <= block * block_size < high]
                beyond = [first for block, first, _ in blocks if block * block_size >= high]
                if own and beyond and min(beyond) < max(own):
                    later[stream] = min(beyond)
    return found


def _is_in_order(blocks: _Blocks) -> bool:
    """Nearly all streams are: then no piece has to know of another."""
    reached = -1
    for _, first, last in blocks:
        if first < reached:
            return False
        reached = max(reached, last)
    return True
