from __future__ import annotations

import pytest

from streamgauge.gateway.server.framing import http_chunk, masked_frame, websocket_frame


@pytest.mark.parametrize(
    ("size", "head"),
    [
        (0, b"\x81\x00"),
        (125, b"\x81\x7d"),
        (126, b"\x81\x7e\x00\x7e"),
        (65_535, b"\x81\x7e\xff\xff"),
        (65_536, b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"),
    ],
)
def test_the_length_of_a_frame_takes_as_few_bytes_as_it_can(size: int, head: bytes) -> None:
    payload = b"x" * size
    assert websocket_frame(payload) == head + payload
    masked = masked_frame(payload)
    assert masked == bytes([head[0], head[1] | 0x80]) + head[2:] + b"\0\0\0\0" + payload


def test_chunks_have_their_length_in_front() -> None:
    assert http_chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
