from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.server.websocket_frames import (
    Broken,
    Close,
    CloseCode,
    Event,
    FrameReader,
    Ping,
    Pong,
    Text,
)
from tests.proof import tries

from .autobahn_cases import close, frame
from .client_frames import BINARY, CONTINUATION, PING, PONG, TEXT

LIMIT, FRAGMENTS = 1000, 20


def reader() -> FrameReader:
    return FrameReader(LIMIT, FRAGMENTS)


def told(reading: FrameReader, *pieces: bytes) -> list[Event | CloseCode]:
    """What is read out of it, up to what breaks a rule."""
    found: list[Event | CloseCode] = []
    try:
        for piece in pieces:
            found.extend(reading.read(piece))
    except Broken as broken:
        found.append(broken.code)
    return found


payloads = st.one_of(st.binary(max_size=140), st.text(max_size=60).map(str.encode))
frames = st.builds(
    lambda payload, opcode, fin, rsv: frame(payload, opcode, fin=fin, rsv=rsv),
    payloads,
    st.sampled_from([TEXT, TEXT, CONTINUATION, CONTINUATION, PING, PONG, BINARY, 0x8, 0x3]),
    st.booleans(),
    st.sampled_from([0] * 20 + [1, 4]),
)
streams = st.lists(frames, max_size=8).map(b"".join)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(each % (len(data) + 1) for each in at)})
    return [data[a:b] for a, b in itertools.pairwise(bounds)]


@given(data=streams, at=st.lists(st.integers(0, 2000), max_size=12))
@tries(100, 20_000)
def test_it_does_not_matter_how_bytes_come(data: bytes, at: list[int]) -> None:
    assert told(reader(), *cut(data, at)) == told(reader(), data)


@given(data=streams, at=st.integers(0, 2000))
@tries(100, 20_000)
def test_another_can_go_on_from_what_is_unfinished(data: bytes, at: int) -> None:
    pieces = cut(data, [at])
    whole = told(reader(), data)
    first = reader()
    before = told(first, *pieces[:1])
    if any(isinstance(each, CloseCode) for each in before):
        return
    assert before + told(reader(), first.unfinished(), *pieces[1:]) == whole


@given(data=streams, at=st.lists(st.integers(0, 2000), max_size=12))
@tries(100, 10_000)
def test_no_more_is_kept_than_a_message_and_a_control_frame(data: bytes, at: list[int]) -> None:
    reading = reader()
    for piece in cut(data, at):
        if any(isinstance(each, CloseCode) for each in told(reading, piece)):
            return
        assert reading.kept_bytes <= LIMIT + 125 + 13


def test_messages_pings_and_pongs() -> None:
    sent = (
        frame(b"a", fin=False) + frame(b"p", PING) + frame(b"b", CONTINUATION) + frame(b"q", PONG) + close()
    )
    reading = reader()
    assert told(reading, sent) == [Ping(b"p"), Text("ab"), Pong(b"q"), Close(1000)]
    assert reading.frame_count == 5
    assert reading.kept_bytes == 0


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (struct.pack(">BB", 0x81, 4), 1002),
        (struct.pack(">BBH", 0x81, 0xFE, 125) + bytes(4), 1002),
        (struct.pack(">BBQ", 0x81, 0xFF, 65_535) + bytes(4), 1002),
        (struct.pack(">BBQ", 0x81, 0xFF, 1 << 63) + bytes(4), 1002),
        (struct.pack(">BBQ", 0x81, 0xFF, 1 << 62) + bytes(4), 1009),
        (frame(b"", size=LIMIT + 1), 1009),
        (frame(b"x" * 900, fin=False) + frame(b"", CONTINUATION, size=101), 1009),
        (frame(b"x", fin=False) + FRAGMENTS * frame(b"", CONTINUATION, fin=False), 1008),
    ],
)
def test_what_is_refused_by_its_head(sent: bytes, code: int) -> None:
    assert told(reader(), sent) == [code]


def test_as_much_and_as_many_as_are_allowed() -> None:
    assert told(reader(), frame(b"x" * LIMIT)) == [Text("x" * LIMIT)]
    many = frame(b"x", fin=False) + (FRAGMENTS - 2) * frame(b"", CONTINUATION, fin=False)
    assert told(reader(), many + frame(b"y", CONTINUATION)) == [Text("xy")]
