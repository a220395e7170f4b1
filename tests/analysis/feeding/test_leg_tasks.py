from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.analysis.feeding.leg_tasks import (
    BucketFile,
    LegPiece,
    LegTables,
    added_up,
    leg_pieces,
)
from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.latency import histogram, latency
from streamgauge.analysis.result_rows import write_packed
from streamgauge.core.run_dir import RunDir
from streamgauge.tables.results import CASE, LEGS, SECOND

LEG = LEGS[0]
_FILES = st.lists(
    st.tuples(st.integers(0, 500), st.integers(1, 90), st.integers(1, 1_000_000)), min_size=1, max_size=8
).map(
    lambda parts: [
        BucketFile(f"{number}", rows, (first, first + span))
        for number, (first, span, rows) in enumerate(parts)
    ]
)


def bucket(scope: str, second: int | None, value_ns: int, count: int, *, sums: bool) -> dict[str, object]:
    return {
        "case": "001",
        "scope": scope,
        "topic": None,
        "partition": None,
        "second": second,
        "leg": LEG,
        "value_ns": value_ns,
        "count": count,
        "sum_ns": value_ns * count if sums else None,
        "squares_ns2": value_ns * value_ns * count if sums else None,
        "min_ns": value_ns,
        "max_ns": value_ns + 7,
    }


def some_buckets(slices: int, seconds: int) -> pa.Table:
    """As slices leave them: of each scope the first row of a slice bears the sums."""
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(slices):
        for scope, second in [(CASE, None), *((SECOND, number) for number in range(seconds))]:
            values = rng.integers(1000, 1040, 6).tolist()
            rows += [
                bucket(scope, second, value, value % 5 + 1, sums=place == 0)
                for place, value in enumerate(values)
            ]
    return pa.Table.from_pylist(rows, schema=BUCKETS)


def in_order(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


@given(_FILES, st.integers(1, 300_000))
def test_every_second_is_in_one_piece_of_a_leg_with_all_files_that_have_it(
    files: list[BucketFile], most_rows: int
) -> None:
    pieces = leg_pieces(files, most_rows)
    of_leg = [piece for piece in pieces if piece.leg == LEG]
    assert len(pieces) == len(of_leg) * len(LEGS)
    if of_leg[0].is_whole:
        assert len(of_leg) == 1
        assert of_leg[0].files == tuple(file.file for file in files)
        return
    beside, *parts = of_leg
    assert beside.seconds is None
    assert beside.files == tuple(file.file for file in files)
    for file in files:
        assert file.seconds is not None
        for second in range(*file.seconds):
            holding = [piece for piece in parts if piece.seconds and second in range(*piece.seconds)]
            assert [file.file in piece.files for piece in holding] == [True]


def test_pieces_are_cut_where_the_rows_are() -> None:
    """A hundred times as much in the first ten seconds as in the next thousand."""
    files = [BucketFile("a", 6_000_000, (0, 10)), BucketFile("b", 60_000, (10, 1010))]
    parts = [piece.seconds for piece in leg_pieces(files, 100_000) if piece.leg == LEG and piece.seconds]
    assert parts[0] == (0, 1)
    assert parts[-1] is not None
    assert parts[-1][1] == 1010
    assert 8 <= len(parts) <= 12


@pytest.mark.parametrize("most_rows", [3, 40, 10_000])
def test_pieces_together_are_the_leg(tmp_path: Path, most_rows: int) -> None:
    """Some of the rows of a scope are added up on the way."""
    run = RunDir(str(tmp_path))
    slices = [some_buckets(2, 9) for _ in range(5)]
    files = []
    for number, buckets in enumerate(slices):
        write_packed(run, f"b/{number}", buckets, 16)
        files.append(BucketFile.of(f"b/{number}", buckets))
    assert files[0].seconds == (0, 9)
    pieces = [piece for piece in leg_pieces(files, most_rows) if piece.leg == LEG]
    found = list(LegTables(run.location, most_rows)([list(enumerate(pieces))]))
    whole = pa.concat_tables(slices)
    assert in_order(pa.concat_tables([own for own, _ in found])) == in_order(latency(whole))
    assert in_order(pa.concat_tables([own for _, own in found])) == in_order(histogram(whole))


def test_adding_up_leaves_what_is_computed_of_it() -> None:
    whole = some_buckets(40, 3)
    small = added_up(whole)
    assert small.num_rows < whole.num_rows / 2
    assert in_order(latency(small)) == in_order(latency(whole))
    assert in_order(histogram(small)) == in_order(histogram(whole))


def test_files_without_buckets_are_left_alone() -> None:
    empty = BucketFile.of("empty", BUCKETS.empty_table())
    assert empty == BucketFile("empty", 0, None)
    pieces = leg_pieces([empty], 10)
    assert pieces == [LegPiece(leg, (), 0, None, True) for leg in LEGS]
    assert [len(own) for own, _ in LegTables("nowhere", 10)([list(enumerate(pieces))])] == [0] * len(LEGS)
