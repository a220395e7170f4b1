"""What one slice takes: its rows are read, and joined with what is known of its case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from streamgauge.analysis.feeding.later_arrivals import later_arrivals
from streamgauge.analysis.feeding.reading import JOINED_OF_RECEIVES, read_groups
from streamgauge.analysis.feeding.slices import RowGroup, Slice
from streamgauge.analysis.joining.facts import CaseFacts, Stream
from streamgauge.analysis.joining.join import Joined, join
from streamgauge.analysis.joining.survey import (
    DAMAGE,
    FIRSTS,
    REACH,
    SURVEYED_OF_RECEIVES,
    SURVEYED_OF_SENDS,
    Survey,
    damage_of,
    firsts_of,
    reach_of,
)
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.events import INTACT, RECEIVES, SENDS


class SliceWork(NamedTuple):
    """A slice, and what is to be known to compute it."""

    place: Slice
    facts: CaseFacts
    later_arrivals: dict[Stream, int]


def slice_work(
    slices: Sequence[Slice], facts: Mapping[str, CaseFacts], survey: Survey, block: int
) -> list[SliceWork]:
    work: list[SliceWork] = []
    for case, own in groupby(slices, key=lambda one: one.case):
        pieces = list(own)
        reach = survey.of_case(case).reach if len(pieces) > 1 else REACH.empty_table()
        ends = sorted({(one.low, one.high) for one in pieces})
        later = dict(zip(ends, later_arrivals(reach, ends, block), strict=True))
        work += [SliceWork(one, facts[case], _own(later[one.low, one.high], one)) for one in pieces]
    return work


def _own(later: dict[Stream, int], one: Slice) -> dict[Stream, int]:
    """Streams are of one producer, so shares need not know of each other."""
    if one.producers is None or not later:
        return later
    first, end = one.producers
    return {stream: arrival for stream, arrival in later.items() if first <= stream[1] < end}


def surveyed(run: RunDir, group: RowGroup, block: int) -> Survey:
    if group.table == SENDS.name:
        sends = read_groups(run, SENDS, [group], SURVEYED_OF_SENDS)
        return Survey(firsts_of(group.case, sends), REACH.empty_table(), DAMAGE.empty_table())
    receives = read_groups(run, RECEIVES, [group], SURVEYED_OF_RECEIVES)
    return Survey(
        FIRSTS.empty_table(), reach_of(group.case, receives, block), damage_of(group.case, receives)
    )


def joined_slice(run: RunDir, work: SliceWork) -> Joined:
    one = work.place
    sends = _within(read_groups(run, SENDS, one.sends, SENDS.column_names), one.sends, one)
    receives = _within(read_groups(run, RECEIVES, one.receives, JOINED_OF_RECEIVES), one.receives, one)
    return join(work.facts, sends, receives, work.later_arrivals)


def _within(part: pa.Table, groups: Sequence[RowGroup], one: Slice) -> pa.Table:
    """Rows of the slice; of receives only intact ones: others have no sequence to trust."""
    has_states = "state" in part.column_names
    is_inside = all(g.sequences and g.sequences[0] >= one.low and g.sequences[1] < one.high for g in groups)
    if is_inside and not has_states:
        return part
    sequence = part["sequence"].to_numpy()
    kept = (sequence >= one.low) & (sequence < one.high)
    if has_states:
        kept &= part["state"].to_numpy() == INTACT
    return part if kept.all() else part.filter(pa.array(kept))
