"""A log looked at in stretches, however its offsets lie, is as good as looked at whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.analysis.verifying.log_places import LogPlaces, check_places
from streamgauge.analysis.verifying.place_packs import Rows
from streamgauge.core.errors import BadInput
from streamgauge.core.findings import Example
from streamgauge.tables.events import RECEIVES, SENDS
from tests.analysis.recorded import CaseEvents

_GROUP = 50


def looked_at(
    case: CaseEvents, stretch_rows: int, *, knows_offsets: bool = True, room: Path | None = None
) -> tuple[LogPlaces, int]:
    """What is found, and the most rows that were asked for at once."""
    rows = {
        table.name: pa.Table.from_pylist(getattr(case, table.name), schema=table.arrow_schema())
        for table in (SENDS, RECEIVES)
    }
    groups = []
    for name, table in rows.items():
        for number in range(-(-table.num_rows // _GROUP)):
            offsets = [o for o in table.slice(number * _GROUP, _GROUP)["offset"].to_pylist() if o is not None]
            reach = (min(offsets), max(offsets)) if offsets and knows_offsets else None
            is_unplaced = knows_offsets and not offsets
            groups.append(
                RowGroup(name, "001", name, number, _GROUP, None, None, None, reach, is_unplaced=is_unplaced)
            )
    asked: list[RowGroup] = []

    def read(group: RowGroup, columns: list[str]) -> pa.Table:
        asked.append(group)
        return rows[group.table].slice(group.number * _GROUP, _GROUP).select(columns)

    return check_places(groups, read, stretch_rows, room=room), len(asked)


def of_many(producers: int, messages: int) -> CaseEvents:
    """As many producers leave it: a row group of each has a few rows of every stretch."""
    case = CaseEvents("log")
    for offset in range(messages):
        case.receive(case.send(offset // producers, producer=offset % producers, offset=offset))
    for rows in (case.sends, case.receives):
        rows.sort(key=lambda row: (row["producer"], row["sequence"]))
    twice, other = case.sends[100], case.receives[400]
    other |= {"offset": twice["offset"]}
    return case


@pytest.mark.parametrize("producers", [10, 40])
def test_of_many_producers_every_row_is_read_once_and_the_same_is_found(
    producers: int, tmp_path: Path
) -> None:
    """Each of P producers' row groups was read for each stretch: of 500 producers every row 62 times."""
    case = of_many(producers, 2000)
    expected, _ = looked_at(case, 1 << 30)
    found, asked = looked_at(case, 200, room=tmp_path)

    assert asked == 4000 // _GROUP
    assert found.conflict_count == expected.conflict_count == 1
    assert found.conflicts == expected.conflicts
    assert found.unread.tolist() == expected.unread.tolist()
    assert len(found.unread) == 1
    assert not list(tmp_path.iterdir()), "nothing is left of it"


def test_without_room_to_put_them_in_order_it_says_where() -> None:
    with pytest.raises(BadInput, match="/dev/null/nowhere: cannot make a data folder there"):
        looked_at(of_many(10, 2000), 200, room=Path("/dev/null/nowhere"))


def log(apart: int) -> CaseEvents:
    case = CaseEvents("log")
    for sequence in range(600):
        send = case.send(sequence, offset=sequence * apart, partition=sequence % 2)
        case.receive(send)
    taken, other = case.sends[100], case.receives[400]
    other |= {"offset": taken["offset"], "partition": taken["partition"]}
    return case


@pytest.mark.parametrize("apart", [1, 7, 1 << 50], ids=["dense", "with gaps", "far apart"])
@pytest.mark.parametrize("stretch_rows", [100, 400, 5000])
def test_two_messages_at_one_offset_are_found_in_any_stretch(apart: int, stretch_rows: int) -> None:
    found, asked = looked_at(log(apart), stretch_rows)

    place = Example(topic="0", partition=0, offset=100 * apart, producer=0, sequence=100)
    other = {"other_producer": 0, "other_sequence": 400}
    assert found.conflict_count == 1
    assert found.conflicts == [place.model_copy(update=other)]
    assert found.unread.tolist() == [400]  # nobody read it where its ack says it is
    assert asked <= 2 * (1200 // _GROUP) + 2 * (1200 // stretch_rows)


def test_a_log_that_was_cut_back_holds_two_messages_which_are_both_where_they_were_acknowledged() -> None:
    case = CaseEvents("log")
    for sequence in range(60):
        case.receive(case.send(sequence, offset=sequence % 30))

    found, _ = looked_at(case, 5000)

    assert found.conflict_count == 30
    assert not len(found.unread)
    assert found.cut_back_count == 30


def test_a_record_that_was_read_elsewhere_is_no_log_that_was_cut_back() -> None:
    found, _ = looked_at(log(1), 5000)

    assert found.conflict_count == 1
    assert found.cut_back_count == 0


def test_files_that_do_not_tell_their_offsets_are_read_whole() -> None:
    found, _ = looked_at(log(1), 100, knows_offsets=False)

    assert found.conflict_count == 1


def test_nothing_is_said_of_what_has_no_place() -> None:
    case = CaseEvents("log")
    for sequence in range(20):
        send = case.send(sequence)
        case.receive(send)
        send |= {"offset": None}
    failed = case.send(20, offset=3, error="timed out")
    unheard = case.send(21, offset=4, acked_ns=None)

    found, _ = looked_at(replace(case), 5000)

    assert (failed["offset"], unheard["offset"]) == (3, 4)
    assert found.conflict_count == 0
    assert not len(found.unread)


def test_where_all_failed_for_a_while_a_log_is_still_looked_at_in_stretches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = log(1)
    for send in case.sends[200:300]:
        send |= {"offset": None, "partition": None, "error": "timed out"}
    stretches = list[int]()
    within = Rows.within

    def counting(*given: Any) -> Any:
        rows = within(*given)
        stretches.append(len(rows.key))
        return rows

    monkeypatch.setattr(Rows, "within", counting)
    found, _ = looked_at(case, 100)

    assert found.conflict_count == 1
    assert max(stretches) <= 150
    assert sum(stretches) == 500 + 600
