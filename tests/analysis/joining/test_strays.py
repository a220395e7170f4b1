from __future__ import annotations

from streamgauge.tables.events import CORRUPT, UNEXPECTED
from tests.analysis.recorded import CaseEvents

from .test_join import joined

UNREADABLE = {"producer": -7, "sequence": 1 << 60}


def test_intact_records_that_nobody_sent_are_counted_where_they_were_read() -> None:
    case = CaseEvents("", load={"topics": {"partitions": 2}})
    sent = case.send(0)
    case.receive(sent)
    case.receive(sent, sequence=77, partition=1)
    case.receive(sent, sequence=77, partition=1)
    case.receive(sent, producer=5, partition=0)
    _, strays = joined(case)

    found = {row["partition"]: (row["corrupt"], row["unexpected"]) for row in strays.to_pylist()}
    assert found == {0: (0, 1), 1: (0, 2)}
    assert set(strays["topic"].to_pylist()) == {"topic-a"}


def test_damage_at_the_place_of_an_acknowledged_message_is_that_message() -> None:
    case = CaseEvents("")
    case.receive(case.send(0, offset=10), state=CORRUPT, **UNREADABLE)
    case.receive(case.send(1, offset=11, error="timed out"), state=CORRUPT, **UNREADABLE)
    case.receive(case.send(2, offset=12, acked_ns=None), state=UNEXPECTED, **UNREADABLE)
    tables, strays = joined(case)

    assert [row["offset"] for row in tables.claimed.to_pylist()] == [10]
    assert [(row["corrupt"], row["unexpected"]) for row in strays.to_pylist()] == [(1, 1)]


def test_a_place_that_two_messages_claim_is_taken_away_once() -> None:
    case = CaseEvents("")
    for sequence in range(2):
        send = case.send(sequence, offset=10)
    case.receive(send, state=CORRUPT, **UNREADABLE)
    tables, strays = joined(case)

    assert tables.claimed.num_rows == 2
    assert strays.num_rows == 0
