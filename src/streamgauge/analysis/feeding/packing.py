"""Many events in no order: tasks put them in order once, and then they are sliced as others are.

A task reads some row groups, whatever they hold, and leaves them as a *pack*: a file with a row group for
each piece that it has rows of. A piece is what a few producers sent from one sequence to another, and all
that was read of it; its slice is made of its row groups in all packs. So every row is read twice and written
once, however many producers there are, and nothing goes through Spark's shuffle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.analysis.feeding.reading import JOINED_OF_RECEIVES, read_groups
from streamgauge.analysis.feeding.slices import BEYOND, USUAL, Cutting, RowGroup, Slice
from streamgauge.analysis.feeding.tasks import Tasks
from streamgauge.analysis.joining.columns import integers
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.events import INTACT, RECEIVES, SENDS

PACKS_FOLDER = "results/_packs"
_TABLES = {SENDS.name: (SENDS, SENDS.column_names), RECEIVES.name: (RECEIVES, JOINED_OF_RECEIVES)}


class Cut(NamedTuple):
    """How a case is cut."""

    width: int
    """Sequences in a piece."""
    producers: int
    """Producers in a share."""


class _Pack(NamedTuple):
    """What one file is made of."""

    table: str
    case: str
    groups: tuple[RowGroup, ...]
    cut: Cut

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)


class _Packed(NamedTuple):
    """One row group of a pack: a share of producers, a piece of their sequences."""

    share: int
    piece: int
    group: RowGroup


def cuts_of(groups: Iterable[RowGroup], cutting: Cutting) -> dict[str, Cut]:
    """By case: pieces of about as many rows each, whatever the number of producers."""
    sends: dict[str, int] = {}
    producers: dict[str, int] = {}
    for group in groups:
        own = group.table == SENDS.name
        sends[group.case] = sends.get(group.case, 0) + (group.rows if own else 0)
        # Where the file does not say, any number may be: shares of few are safe.
        last = group.producers[1] if group.producers is not None else cutting.rows
        producers[group.case] = max(producers.get(group.case, 1), last + 1 if own else 1)
    return {case: _cut(producers[case], rows, cutting) for case, rows in sends.items()}


def _cut(producers: int, sends: int, cutting: Cutting) -> Cut:
    width = cutting.width(producers, sends)
    return Cut(width, BEYOND if width == BEYOND else max(1, cutting.rows // width))


def packed_slices(
    tasks: Tasks, run: RunDir, groups: Sequence[RowGroup], cutting: Cutting = USUAL
) -> list[Slice]:
    """All messages of a run in slices, of files that are made for it; remove PACKS_FOLDER afterwards."""
    run.remove(PACKS_FOLDER)
    packs = _packs(groups, cuts_of(groups, cutting), cutting.rows)
    location = run.location

    def each(given: Iterable[list[tuple[int, _Pack]]]) -> Iterator[list[_Packed]]:
        here = RunDir(location)
        for number, pack in (numbered for task in given for numbered in task):
            yield _written(here, number, pack)

    pieces: dict[tuple[str, int, int], list[RowGroup]] = defaultdict(list)
    for found in tasks(each, packs, lambda pack: pack.rows):
        for share, piece, group in found:
            pieces[group.case, share, piece].append(group)
    cuts = {pack.case: pack.cut for pack in packs}
    return [_slice(key, pieces[key], cuts[key[0]]) for key in sorted(pieces)]


def _slice(key: tuple[str, int, int], groups: Sequence[RowGroup], cut: Cut) -> Slice:
    case, share, piece = key
    sends, receives = (
        tuple(group for group in groups if group.table == table.name) for table in (SENDS, RECEIVES)
    )
    if cut.width == BEYOND:
        return Slice(case, -BEYOND, BEYOND, sends, receives)
    low, first = piece * cut.width, share * cut.producers
    return Slice(case, low, low + cut.width, sends, receives, (first, first + cut.producers))


def _packs(groups: Sequence[RowGroup], cuts: Mapping[str, Cut], most_rows: int) -> list[_Pack]:
    """Row groups that lie near each other, as many as a task can hold."""
    by_table: dict[tuple[str, str], list[RowGroup]] = defaultdict(list)
    for group in groups:
        by_table[group.table, group.case].append(group)
    packs: list[_Pack] = []
    for (table, case), own in by_table.items():
        taken: list[RowGroup] = []
        for group in sorted(own, key=_place):
            if taken and sum(one.rows for one in taken) + group.rows > most_rows:
                packs.append(_Pack(table, case, tuple(taken), cuts[case]))
                taken = []
            taken.append(group)
        packs.append(_Pack(table, case, tuple(taken), cuts[case]))
    return packs


def _place(group: RowGroup) -> tuple[object, ...]:
    return (group.sequences or (0, 0), group.producers or (0, 0), group.file, group.number)


def _written(run: RunDir, number: int, pack: _Pack) -> list[_Packed]:
    table, columns = _TABLES[pack.table]
    rows = read_groups(run, table, pack.groups, columns)
    if "state" in columns:  # others have no sequence to trust; the survey has counted them
        rows = rows.filter(pc.equal(rows["state"], INTACT))
    file = f"{PACKS_FOLDER}/{pack.table}/{pack.case}-{number:05d}.parquet"
    found: list[_Packed] = []
    # No zstd: they are read once, soon, and removed.
    layout = {"compression": "lz4", "use_dictionary": False, "store_schema": False}
    with run.open_output(file) as stream, pq.ParquetWriter(stream, rows.schema, **layout) as writer:
        for share, piece, part in _in_pieces(rows, pack.cut):
            producers, sequences = _ends(part, "producer"), _ends(part, "sequence")
            group = RowGroup(pack.table, pack.case, file, len(found), part.num_rows, producers, sequences)
            writer.write_table(part, row_group_size=part.num_rows)
            found.append(_Packed(share, piece, group))
    return found


def _in_pieces(rows: pa.Table, cut: Cut) -> Iterator[tuple[int, int, pa.Table]]:
    """Share, number and rows of each piece; rows stay in their order."""
    if not rows.num_rows:
        return
    share = integers(rows, "producer") // cut.producers
    piece = integers(rows, "sequence") // cut.width
    if (share == share[0]).all() and (piece == piece[0]).all():
        yield int(share[0]), int(piece[0]), rows
        return
    order = np.lexsort((piece, share))
    in_order = rows.take(pa.array(order))
    share, piece = share[order], piece[order]
    is_new = (share[1:] != share[:-1]) | (piece[1:] != piece[:-1])
    begins = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(order)]
    for begin, end in pairwise(begins):
        yield int(share[begin]), int(piece[begin]), in_order.slice(begin, end - begin)


def _ends(part: pa.Table, column: str) -> tuple[int, int]:
    found = pc.min_max(part[column])
    return found["min"].as_py(), found["max"].as_py()
