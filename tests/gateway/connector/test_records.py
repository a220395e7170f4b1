from __future__ import annotations

from typing import Any

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed, Undecodable
from streamgauge.gateway.connector.evaluators.json_records import JsonEvaluator
from streamgauge.gateway.connector.evaluators.scalars import ScalarEvaluator
from streamgauge.gateway.connector.expressions import parse, parse_wrapped
from streamgauge.gateway.connector.records import NODES, Compiler, Record

from .fakes import Message

HEADERS: list[tuple[str, bytes | None]] = [("a", b"1"), ("b", "ü".encode()), ("a", b"2"), ("none", None)]


class CountingJson(JsonEvaluator):
    decoded = 0

    def decode(self, data: bytes) -> Any:
        self.decoded += 1
        return super().decode(data)


def read(text: str, message: Message, *, non_scalars: bool = False) -> str | None:
    key, value = ScalarEvaluator("STRING"), JsonEvaluator()
    expression = parse(text)
    compiler = Compiler(key, value, non_scalars=non_scalars)
    return compiler.reader(expression)(NODES[expression.root](Record(message, key, value)))


def expand(text: str, message: Message) -> dict[str, str | None]:
    key, value = ScalarEvaluator("STRING"), JsonEvaluator()
    expression = parse_wrapped(text, wildcard=True)
    compiler = Compiler(key, value, non_scalars=False)
    return compiler.expander(expression)(NODES[expression.root](Record(message, key, value)))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("TOPIC", "t"),
        ("PARTITION", "3"),
        ("OFFSET", "17"),
        ("TIMESTAMP", "1700000000000"),
        ("KEY", "k"),
        ("VALUE.a", "1"),
        ("HEADERS.b", "ü"),
        ("HEADERS['b']", "ü"),
        ("HEADERS.a[1]", "2"),
        ("HEADERS[2]", "2"),
        ("HEADERS.none", None),
        ("HEADERS[3]", None),
    ],
)
def test_every_root(expression: str, text: str | None) -> None:
    assert read(expression, Message(b'{"a": 1}', b"k", "t", 3, 17, headers_=HEADERS)) == text


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("HEADERS.c", r"HEADERS\.c: field \[c\] not found"),
        ("HEADERS[4]", r"index \[4\] not found"),
        ("HEADERS.a", "is a list, not a plain value"),
        ("HEADERS.a[2]", r"index \[2\] not found"),
        ("HEADERS.b[0]", "from a plain value"),
        ("HEADERS[0].x", "from a plain value"),
        ("HEADERS", "is an object, not a plain value"),
    ],
)
def test_headers_that_are_not_there(expression: str, says: str) -> None:
    with pytest.raises(ExtractionFailed, match=says):
        read(expression, Message(b"{}", headers_=HEADERS))


def test_headers_as_a_whole() -> None:
    message = Message(b"{}", headers_=HEADERS)
    assert read("HEADERS.a", message, non_scalars=True) == '["1","2"]'
    assert read("HEADERS", message, non_scalars=True) == '{"a":["1","2"],"b":"ü","none":null}'
    assert expand("#{HEADERS.*}", message) == {"a[0]": "1", "a[1]": "2", "b": "ü", "none": None}
    assert expand("#{HEADERS.a.*}", message) == {"a[0]": "1", "a[1]": "2"}
    assert expand("#{HEADERS.*}", Message(b"{}")) == {}


def test_null_keys_and_values() -> None:
    assert read("KEY", Message(None, None)) is None
    assert read("VALUE", Message(None, None)) is None
    with pytest.raises(ExtractionFailed, match=r"VALUE\.a: cannot take field \[a\] from null"):
        read("VALUE.a", Message(None, None))


def test_a_value_is_decoded_when_it_is_asked_for_and_once() -> None:
    key, value = ScalarEvaluator("STRING"), CountingJson()
    record = Record(Message(b'{"a": 1, "b": 2}', b"k"), key, value)
    assert record.key() == "k"
    assert value.decoded == 0
    assert (record.value()["a"], record.value()["b"], value.decoded) == (1, 2, 1)


def test_it_is_said_which_part_of_which_record_is_undecodable() -> None:
    record = Record(
        Message(b"{", topic_="x", partition_=1, offset_=5), ScalarEvaluator("LONG"), JsonEvaluator()
    )
    with pytest.raises(Undecodable, match=r"^VALUE: not JSON: "):
        record.value()
    assert str(record) == "record x/1 at offset 5"
    record = Record(Message(b"{", b"abc"), ScalarEvaluator("LONG"), JsonEvaluator())
    with pytest.raises(Undecodable, match=r"^KEY: 3 bytes are not a LONG \(8 bytes\)"):
        record.key()
