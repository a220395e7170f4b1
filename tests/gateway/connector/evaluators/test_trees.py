from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.evaluators.trees import tree_expander, tree_reader
from streamgauge.gateway.connector.expressions import parse, parse_wrapped

TREE: dict[str, Any] = {
    "s": "text",
    "i": 12,
    "f": 0.1,
    "big": 1e22,
    "yes": True,
    "no": False,
    "nothing": None,
    "bytes": b"\xc3\xbc\xff",
    "decimal": Decimal("1.10"),
    "o": {"a": {"b": 1}, "1": "one"},
    "l": [1, [2, {"x": "deep"}], None],
}


def read(text: str, *, non_scalars: bool = False) -> str | None:
    return tree_reader(parse(text), non_scalars=non_scalars)(TREE)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("VALUE.s", "text"),
        ("VALUE.i", "12"),
        ("VALUE.f", "0.1"),
        ("VALUE.big", "1e+22"),
        ("VALUE.yes", "true"),
        ("VALUE.no", "false"),
        ("VALUE.nothing", None),
        ("VALUE.bytes", "ü\ufffd"),
        ("VALUE.decimal", "1.10"),
        ("VALUE.o.a.b", "1"),
        ("VALUE.o['a']['b']", "1"),
        ("VALUE.o['1']", "one"),
        ("VALUE.l[0]", "1"),
        ("VALUE.l[1][1].x", "deep"),
        ("VALUE.l[2]", None),
    ],
)
def test_plain_values(expression: str, text: str | None) -> None:
    assert read(expression) == text
    assert read(expression, non_scalars=True) == text


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("VALUE.x", r"VALUE\.x: field \[x\] not found"),
        ("VALUE.o.x", r"VALUE\.o\.x: field \[x\] not found"),
        ("VALUE.nothing.x", r"cannot take field \[x\] from null"),
        ("VALUE.nothing[0]", r"cannot take index \[0\] from null"),
        ("VALUE.s.x", r"cannot take field \[x\] from a plain value"),
        ("VALUE.s[0]", r"cannot take index \[0\] from a plain value"),
        ("VALUE.bytes[0]", "from a plain value"),
        ("VALUE.l.x", r"cannot take field \[x\] from a list"),
        ("VALUE.l[3]", r"index \[3\] not found"),
        ("VALUE.o[1]", r"cannot take index \[1\] from an object"),
        ("VALUE[0]", r"cannot take index \[0\] from an object"),
        ("VALUE.o", "is an object, not a plain value"),
        ("VALUE.l", "is a list, not a plain value"),
        ("VALUE.l[1]", "is a list, not a plain value"),
        ("VALUE", "is an object, not a plain value"),
    ],
)
def test_what_is_not_there_is_said(expression: str, says: str) -> None:
    with pytest.raises(ExtractionFailed, match=says):
        read(expression)


def test_objects_and_lists_as_text_where_that_is_wanted() -> None:
    assert read("VALUE.o", non_scalars=True) == '{"a":{"b":1},"1":"one"}'
    assert read("VALUE.l", non_scalars=True) == '[1,[2,{"x":"deep"}],null]'


def test_wildcards() -> None:
    assert tree_expander(parse_wrapped("#{VALUE.o.*}", wildcard=True))(TREE) == {"a": '{"b":1}', "1": "one"}
    assert tree_expander(parse_wrapped("#{VALUE.l.*}", wildcard=True))(TREE) == {
        "l[0]": "1",
        "l[1]": '[2,{"x":"deep"}]',
        "l[2]": None,
    }
    assert tree_expander(parse_wrapped("#{VALUE.*}", wildcard=True))(TREE)["nothing"] is None
    with pytest.raises(ExtractionFailed, match="null has no parts"):
        tree_expander(parse_wrapped("#{VALUE.nothing.*}", wildcard=True))(TREE)
