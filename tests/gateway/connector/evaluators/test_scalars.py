from __future__ import annotations

import struct
from uuid import UUID

import pytest

from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.scalars import ScalarEvaluator
from streamgauge.gateway.connector.expressions import parse, parse_wrapped

SOME_UUID = "8a2c1a36-70d0-4f7c-8b6f-02f7a2c0d1ab"


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        ("STRING", "Zürich 🎺".encode(), "Zürich 🎺"),
        ("STRING", b"", ""),
        ("STRING", b"a\xffb", "a\ufffdb"),
        ("INTEGER", struct.pack(">i", -42), "-42"),
        ("LONG", struct.pack(">q", 2**40), "1099511627776"),
        ("SHORT", struct.pack(">h", -7), "-7"),
        ("DOUBLE", struct.pack(">d", 0.1), "0.1"),
        ("FLOAT", struct.pack(">f", 0.1), "0.1"),
        ("BOOLEAN", b"\x00", "false"),
        ("BOOLEAN", b"\x01", "true"),
        ("UUID", SOME_UUID.upper().encode(), SOME_UUID),
        ("BYTE_ARRAY", b"abc", "abc"),
        ("BYTE_BUFFER", b"abc", "abc"),
        ("BYTES", b"ab\xff", "ab\ufffd"),
    ],
)
def test_as_kafka_writes_them(kind: str, data: bytes, text: str) -> None:
    evaluator = ScalarEvaluator(kind)
    assert evaluator.reader(parse("VALUE"), non_scalars=False)(evaluator.decode(data)) == text
    assert UUID(SOME_UUID)


@pytest.mark.parametrize(
    ("kind", "data", "says"),
    [
        ("INTEGER", b"\0\0\0", r"3 bytes are not an INTEGER \(4 bytes\)"),
        ("LONG", b"12", "not a LONG"),
        ("SHORT", b"", "not a SHORT"),
        ("DOUBLE", b"1", "not a DOUBLE"),
        ("FLOAT", b"12345", "not a FLOAT"),
        ("BOOLEAN", b"\x02", "not a BOOLEAN"),
        ("UUID", b"not a uuid", "not a UUID"),
        ("UUID", b"\xff", "not a UUID"),
    ],
)
def test_what_is_something_else_is_said(kind: str, data: bytes, says: str) -> None:
    with pytest.raises(Undecodable, match=says):
        ScalarEvaluator(kind).decode(data)


def test_they_have_no_parts() -> None:
    with pytest.raises(ValueError, match="LONG is a plain value"):
        ScalarEvaluator("LONG").expander(parse_wrapped("#{VALUE.*}", wildcard=True))
