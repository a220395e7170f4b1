"""Copies of messages that came after these were rolled up: of each one more than there should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import integers
from streamgauge.analysis.joining.groups import Bools, group_rows
from streamgauge.core.findings import MOST_EXAMPLES, Example
from streamgauge.plan.roll_up_file import RollUp
from streamgauge.tables.events import INTACT

LOOKED_AT = ["consumer", "arrival", "state", "producer", "sequence", "topic", "partition", "offset"]


@dataclass
class LateCopies:
    by_place: dict[tuple[int, int], int] = field(default_factory=dict)
    """Topic and partition."""
    read_again: int = 0
    written_again: int = 0
    """Read where no message lay that was rolled up: so it lies there, too."""
    read: list[Example] = field(default_factory=list)
    written: list[Example] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.read_again + self.written_again


def late_copies(rolled: RollUp | None, parts: Iterable[pa.Table]) -> LateCopies:
    """`parts`: records that are left, in any order."""
    found = LateCopies()
    if rolled is None:
        return found
    for part in parts:
        is_late = is_of_rolled_up(rolled, part)
        if not is_late.any():
            continue
        rows = part.filter(pa.array(is_late))
        topic, partition = (integers(rows, name) for name in ("topic", "partition"))
        places = group_rows([topic, partition])
        for *place, count in zip(
            *(key.tolist() for key in places.keys), places.sizes().tolist(), strict=True
        ):
            where = (place[0], place[1])
            found.by_place[where] = found.by_place.get(where, 0) + count
        is_there = np.ones(rows.num_rows, bool)
        if rolled.has_all_places:
            # A transport without offsets has no places either.
            offset = integers(rows, "offset")
            is_there = rolled.gone_places.hold([topic, partition], offset) | (offset < 0)
        found.read_again += int(np.count_nonzero(is_there))
        found.written_again += int(np.count_nonzero(~is_there))
        found.read += _examples(rows, is_there, len(found.read))
        found.written += _examples(rows, ~is_there, len(found.written))
    return found


def is_of_rolled_up(rolled: RollUp, records: pa.Table) -> Bools:
    found: Bools = integers(records, "state") == INTACT
    found &= rolled.gone_sends.hold([integers(records, "producer")], integers(records, "sequence"))
    return found


def _examples(rows: pa.Table, among: Bools, already: int) -> list[Example]:
    few = rows.filter(pa.array(among)).slice(0, max(0, MOST_EXAMPLES - already)).drop_columns(["state"])
    return [Example(**row | {"topic": str(row["topic"])}) for row in few.to_pylist()]
