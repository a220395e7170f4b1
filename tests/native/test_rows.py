"""Records into columns: the compiled loop against its twin in Python, on whatever bytes may come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.native.loading import compiled_loops
from streamgauge.payload.checksum import body_sums, header_sums
from streamgauge.payload.making import MessageMaker
from streamgauge.payload.reading import MessageReader, Packed
from streamgauge.spec.load import Message
from streamgauge.tables.events import CORRUPT, INTACT, UNEXPECTED
from tests.native.played_librdkafka import Event, PlayedClock, PlayedQueue
from tests.proof import tries

LOOPS: Any = compiled_loops()
pytestmark = [
    pytest.mark.skipif(LOOPS is None, reason="the loops were not built"),
    pytest.mark.proof,
]
TAG = 0xC0FFEE
WIDTHS = (
    ("state", np.int8),
    ("producer", np.int32),
    ("sequence", np.int64),
    ("partition", np.int32),
    ("offset", np.int64),
    ("size_bytes", np.int32),
    ("broker_ms", np.int64),
    ("broker_time", np.int8),
    ("received_ns", np.int64),
    ("topic", np.int64),
    ("intended_ns", np.int64),
)


def columns(rows: int) -> dict[str, Any]:
    return {name: np.full(rows, 77, width) for name, width in WIDTHS}


def taken(events: list[Event], room: int, most: int | None = None) -> tuple[dict[str, Any], list[Any]]:
    """All of them, call by call; `most` rows at a time."""
    queue, clock = PlayedQueue(events), PlayedClock(1000, 10)
    rows = LOOPS.rows((queue.consume, queue.timestamp, queue.enough, clock.address), 1, TAG)
    found, errors = [], []
    while True:
        given = columns(room)
        count, told = LOOPS.take_rows(rows, most or room, 0, 0, tuple(given.values()))
        if not count and not told:
            break
        found.append({name: values[:count] for name, values in given.items()})
        for name, values in given.items():
            assert (values[count:] == 77).all(), f"{name}: written behind the last record"
        errors += told
    merged = {name: np.concatenate([part[name] for part in found]) for name, _ in WIDTHS} if found else {}
    return merged, errors


@st.composite
def values(draw: st.DrawFn) -> bytes | None:
    """Ours and whole, ours and damaged, another case's, somebody else's; short, empty, none."""
    kind = draw(st.sampled_from(["ours", "damaged", "cut", "other", "foreign", "none"]))
    if kind == "none":
        return None
    if kind == "foreign":
        return draw(st.binary(max_size=80))
    tag = TAG if kind != "other" else draw(st.integers(1, 2**32 - 1))
    maker = MessageMaker(Message(size=draw(st.integers(32, 300))), tag, draw(st.integers(0, 5)))
    value = maker.make(draw(st.integers(0, 2**40)), np.array([draw(st.integers(0, 2**62))])).values[0]
    if kind == "damaged":
        at = draw(st.integers(0, len(value) - 1))
        return value[:at] + bytes([value[at] ^ draw(st.integers(1, 255))]) + value[at + 1 :]
    return value[: draw(st.integers(0, len(value)))] if kind == "cut" else value


@given(given=st.lists(values(), min_size=1, max_size=20), room=st.integers(1, 8))
@tries(60, 3000)
def test_every_record_is_found_to_be_what_the_twin_finds(given: list[bytes | None], room: int) -> None:
    events = [Event(partition=i % 3, offset=100 + i, value=value) for i, value in enumerate(given)]
    rows, errors = taken(events, room)
    plain = [value or b"" for value in given]
    twin = MessageReader("value", TAG).read(Packed(b"".join(plain), np.array([len(v) for v in plain])), None)
    for name in ("state", "producer", "sequence", "intended_ns", "size_bytes"):
        assert rows[name].tolist() == getattr(twin, name).tolist(), name
    assert rows["partition"].tolist() == [i % 3 for i in range(len(given))]
    assert rows["offset"].tolist() == [100 + i for i in range(len(given))]
    assert set(rows["broker_ms"]) == {5}
    received = rows["received_ns"].tolist()
    assert received == [1010 + 10 * (i // room) for i in range(len(given))], "a reading for each call"
    assert not errors


def test_the_clock_is_read_for_every_eighth_record_at_least() -> None:
    rows, _ = taken([Event(offset=i) for i in range(40)], 40)
    assert rows["received_ns"].tolist() == [1010 + 10 * (i // 8) for i in range(40)]


def test_the_kinds_of_records_are_told_apart() -> None:
    ours, other = (
        MessageMaker(Message(size=100), tag, 3).make(9, np.array([5])).values[0] for tag in (TAG, 1)
    )
    rows, _ = taken([Event(value=v) for v in (ours, ours[:-1], other, b"short", None)], 8)
    assert rows["state"].tolist() == [INTACT, CORRUPT, UNEXPECTED, UNEXPECTED, UNEXPECTED]
    assert rows["sequence"].tolist()[:2] == [9, 9]


@given(header=st.binary(min_size=32, max_size=32), body=st.binary(max_size=200), more=st.integers(0, 5000))
@tries(50, 1000)
def test_checksums_are_the_twins(header: bytes, body: bytes, more: int) -> None:
    whole = body + b"\x5a" * (more * 8 if more % 7 == 0 else more)
    twin = header_sums(np.frombuffer(header, "<u8").reshape(1, 4)) + body_sums([whole])
    assert LOOPS.checksum(header, whole) == int(twin[0])


def lingering(
    calls: list[list[Event]], room: int, linger_ms: int, step_ns: int
) -> tuple[Any, Any, list[int]]:
    """One call of the loop, on a queue that serves so much each time it is asked; how long it was to wait."""
    queue, clock = PlayedQueue(calls), PlayedClock(0, step_ns)
    rows = LOOPS.rows((queue.consume, queue.timestamp, queue.enough, clock.address), 1, TAG)
    given = columns(room)
    count, errors = LOOPS.take_rows(rows, room, 100, linger_ms, tuple(given.values()))
    return {name: values[:count] for name, values in given.items()}, errors, queue.waits_ms


def test_what_comes_one_by_one_is_taken_in_one_turn_and_each_is_stamped_when_it_comes() -> None:
    rows, errors, waits_ms = lingering([[Event(offset=i)] for i in range(3)], 10, 20, 2_000_000)
    assert rows["offset"].tolist() == [0, 1, 2]
    assert rows["received_ns"].tolist() == [2_000_000, 6_000_000, 10_000_000], "a reading for each call"
    assert not errors
    # The first look at the clock after a record says until when: from then on nobody waits longer.
    assert waits_ms[:4] == [100, 20, 16, 12]
    assert waits_ms[-1] > 0


def test_a_turn_ends_when_its_time_is_up_though_more_keeps_coming() -> None:
    rows, _, waits_ms = lingering([[Event(offset=i)] for i in range(100)], 100, 20, 1_000_000)
    assert len(rows["offset"]) == len(waits_ms) == 11


def test_a_turn_ends_when_there_is_no_room_or_nothing_came_or_there_is_an_error() -> None:
    full, _, _ = lingering([[Event()], [Event(), Event()], [Event()]], 3, 20, 1000)
    assert len(full["state"]) == 3
    none, _, waits_ms = lingering([[], [Event()]], 3, 20, 1000)
    assert (len(none["state"]), waits_ms) == (0, [100])
    rows, errors, _ = lingering([[Event(offset=7), Event(-191)], [Event()]], 3, 20, 1000)
    assert (rows["offset"].tolist(), len(errors)) == ([7], 1)
    without, _, _ = lingering([[Event()], [Event()]], 3, 0, 1000)
    assert len(without["state"]) == 1


def test_errors_come_beside_records_and_cost_none() -> None:
    codes = [-191 - i % 2 for i in range(40)]
    events = [e for i, code in enumerate(codes) for e in (Event(code, value=b"why"), Event(offset=i))]
    rows, errors = taken(events, 100)
    assert [code for code, *_ in errors] == codes
    assert rows["offset"].tolist() == list(range(40))
    assert errors[0][4] == b"why"


def test_columns_that_are_too_short_or_of_another_width_are_refused() -> None:
    queue = PlayedQueue([Event(value=b"x")])
    rows = LOOPS.rows((queue.consume, queue.timestamp, queue.enough, 0), 1, TAG)
    short = columns(4) | {"offset": np.zeros(3, np.int64)}
    wide = columns(4) | {"state": np.zeros(4, np.int64)}
    fixed = columns(4)
    fixed["sequence"].flags.writeable = False
    for wrong, why in ((short, "column offset"), (wide, "column state"), (fixed, "read-only")):
        with pytest.raises((ValueError, BufferError), match=why):
            LOOPS.take_rows(rows, 4, 0, 0, tuple(wrong.values()))
    with pytest.raises(ValueError, match="at least 1"):
        LOOPS.take_rows(rows, 0, 0, 0, tuple(columns(4).values()))
    with pytest.raises(TypeError, match="tuple of 11 columns"):
        LOOPS.take_rows(rows, 1, 0, 0, ())
