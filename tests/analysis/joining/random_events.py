"""Events at random: messages lost, repeated, out of order, damaged, never sent; clocks apart; warm-up."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import strategies as st

from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED
from tests.analysis.recorded import MS, SECOND, START_NS, WALL_OFFSET_NS, CaseEvents, Row

_TOPICS, _PARTITIONS = 2, 2
_FAR_NS = 9_000_000_000
"""Beyond what latencies are, so that a clock not put right is seen."""


@st.composite
def random_cases(draw: Any, least: int = 0, most: int = 40) -> CaseEvents:
    """A case of so many messages, with everything in it that can go wrong."""
    producers, consumers = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    warm_up = draw(st.integers(0, 4))
    load = {
        "messages": 1000,
        "producers": producers,
        "consumers": consumers,
        "topics": {"count": _TOPICS, "partitions": _PARTITIONS},
        "warm_up_messages": producers * warm_up,
    }
    case = CaseEvents("random", load=load)
    _mark_clocks(draw, case, producers, consumers)
    logs: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for number in range(draw(st.integers(least, most))):
        _send(draw, case, number, producers, logs)
    for (topic, partition), log in sorted(logs.items()):
        for record in _as_read(draw, log):
            _receive(draw, case, record, (topic, partition), consumers)
    return case


def _mark_clocks(draw: Any, case: CaseEvents, producers: int, consumers: int) -> None:
    """Some agents have a clock of their own, and some were never heard of."""
    for kind, count in (("producer", producers), ("consumer", consumers)):
        for number in range(count):
            if draw(st.integers(0, 5)) == 0:
                continue
            offset_ns = draw(st.sampled_from([0, 0, 1, -_FAR_NS, _FAR_NS + 7]))
            case.mark(kind, number, "start", START_NS, reference_offset_ns=offset_ns)
            if draw(st.integers(0, 3)) == 0:
                # Read again when a second had passed: it had lost, or won, so many microseconds.
                case.mark(kind, number, "clock", START_NS, reference_offset_ns=offset_ns)
                moved_ns = draw(st.integers(-50, 50)) * 1000
                case.mark(kind, number, "clock", START_NS + SECOND, reference_offset_ns=offset_ns + moved_ns)


def _send(
    draw: Any, case: CaseEvents, number: int, producers: int, logs: dict[tuple[int, int], list[Row]]
) -> None:
    place = (draw(st.integers(0, _TOPICS - 1)), draw(st.integers(0, _PARTITIONS - 1)))
    offset = len(logs[place]) + draw(st.integers(0, 1)) * 3
    intended_ns = START_NS + number * draw(st.sampled_from([1, 100])) * MS
    sent_ns = intended_ns + draw(st.integers(0, 5 * MS))
    given: Row = {"producer": number % producers, "topic": place[0], "partition": place[1], "offset": offset}
    given |= {"intended_ns": intended_ns, "sent_ns": sent_ns, "size_bytes": draw(st.integers(1, 2000))}
    given["acked_ns"] = sent_ns + draw(st.integers(0, 9 * MS))
    known = draw(st.sampled_from(["all"] * 6 + ["failed", "unacked", "no offset", "no place"]))
    if known == "failed":
        given["error"] = "timed out"
    if known == "unacked":
        given["acked_ns"] = None
    if known in ("no offset", "no place"):
        given["offset"] = None
    if known == "no place":
        given["partition"] = None
    send = case.send(number // producers, **given)
    logs[place].append(send | {"offset": offset})


def _as_read(draw: Any, log: list[Row]) -> list[Row]:
    """What consumers read of a partition: not all of it, some twice, and in any order."""
    read: list[Row] = []
    for send in log:
        fate = draw(
            st.sampled_from(["whole"] * 6 + ["lost", "twice", "damaged", "foreign", "both", "stranger"])
        )
        unreadable = {"producer": -7, "sequence": 1 << 60}
        if fate in ("whole", "twice", "both"):
            read.append(send)
        if fate == "twice":
            read.append(send)
        if fate in ("damaged", "both"):
            read.append(send | unreadable | {"state": CORRUPT})
        if fate == "foreign":
            read.append(send | unreadable | {"state": UNEXPECTED})
        if fate == "stranger":
            # In the message's own place, or beyond all others.
            offset = send["offset"] + draw(st.sampled_from([0, 500]))
            read.append(send | {"sequence": send["sequence"] + 1000, "offset": offset})
    swaps = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
    for one, other in swaps if read else ():
        a, b = one % len(read), other % len(read)
        read[a], read[b] = read[b], read[a]
    return read


def _receive(draw: Any, case: CaseEvents, record: Row, place: tuple[int, int], consumers: int) -> None:
    usual = sum(place) % consumers
    consumer = usual if draw(st.integers(0, 9)) else draw(st.integers(0, consumers - 1))
    sent_ns = record["sent_ns"]
    case.receive(
        record,
        consumer=consumer,
        partition=place[1],
        state=record.get("state", INTACT),
        received_ns=sent_ns + draw(st.integers(-2 * MS, 300 * MS)),
        broker_ms=draw(st.sampled_from([(sent_ns + WALL_OFFSET_NS) // MS, -1, None, 1 << 62])),
        broker_time=draw(st.integers(0, 2)),
    )
