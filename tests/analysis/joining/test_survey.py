"""A survey of parts is a survey of the whole."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.analysis.joining.survey import Survey
from streamgauge.tables.events import RECEIVES, SENDS
from tests.analysis.recorded import CaseEvents
from tests.core.properties import few_untimed

from .random_events import random_cases

BLOCK = 4


def tables(case: CaseEvents) -> tuple[pa.Table, pa.Table]:
    sends, receives = (
        pa.Table.from_pylist(rows, schema=table.arrow_schema())
        for table, rows in ((SENDS, case.sends), (RECEIVES, case.receives))
    )
    return sends, receives


def in_order(survey: Survey) -> list[list[str]]:
    return [sorted(map(repr, table.to_pylist())) for table in survey]


@few_untimed
@given(case=random_cases(most=20), cut=st.integers(1, 10))
def test_parts_add_up(case: CaseEvents, cut: int) -> None:
    sends, receives = tables(case)
    parts = [
        Survey.of("001", sends.slice(first, cut), receives.slice(first, cut), BLOCK)
        for first in range(0, max(sends.num_rows, receives.num_rows), cut)
    ]
    assert in_order(Survey.merged(parts)) == in_order(Survey.of("001", sends, receives, BLOCK))


def test_what_is_damaged_has_no_producer_and_no_block() -> None:
    case = CaseEvents("")
    send = case.send(9, offset=5)
    case.receive(send)
    case.receive(send, state=1, producer=-3, sequence=1 << 60)
    survey = Survey.of("001", *tables(case), BLOCK)
    intact, damaged = sorted(survey.reach.to_pylist(), key=lambda row: row["damaged"])

    assert (intact["producer"], intact["block"], intact["last_sequence"], intact["intact"]) == (0, 2, 9, 1)
    assert (damaged["producer"], damaged["block"], damaged["last_sequence"]) == (None, None, None)
    assert (damaged["last_offset"], damaged["damaged"]) == (5, 1)
    assert survey.damage.to_pylist() == [
        {"case": "001", "topic": 0, "partition": 0, "offset": 5, "corrupt_records": 1, "foreign_records": 0}
    ]


def test_cases_are_apart() -> None:
    case = CaseEvents("")
    case.receive(case.send(0))
    both = Survey.merged(Survey.of(name, *tables(case), BLOCK) for name in ("001", "002"))

    assert in_order(both.of_case("002")) == in_order(Survey.of("002", *tables(case), BLOCK))
