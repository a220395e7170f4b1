from __future__ import annotations

import json

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.evaluators.protobuf_fields import (
    message_expander,
    message_reader,
)
from streamgauge.gateway.connector.evaluators.protobuf_types import message_class
from streamgauge.gateway.connector.expressions import parse, parse_wrapped

from .protobuf_samples import a_stock, stock_type


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("VALUE.name", "Anduct"),
        ("VALUE.price", "0.1"),
        ("VALUE.single", "0.1"),
        ("VALUE.big", "9223372036854775809"),
        ("VALUE.raw", "ü\ufffd"),
        ("VALUE.live", "true"),
        ("VALUE.kind", "BOND"),
        ("VALUE.where.x", "0.7"),
        ("VALUE['where']['name']", "here"),
        ("VALUE.places[0].name", "one"),
        ("VALUE.levels[1]", "0.2"),
        ("VALUE.tags.a", "A"),
        ("VALUE.by_number['-5'].name", "minus five"),
        ("VALUE.by_truth.true", "0.3"),
        ("VALUE.at.seconds", "10"),
    ],
)
def test_every_kind_of_field(expression: str, text: str) -> None:
    assert message_reader(parse(expression), non_scalars=False)(a_stock()) == text


def test_what_is_not_set_has_its_default() -> None:
    empty = message_class(stock_type())()
    assert message_reader(parse("VALUE.name"), non_scalars=False)(empty) == ""
    assert message_reader(parse("VALUE.where.x"), non_scalars=False)(empty) == "0.0"
    assert message_reader(parse("VALUE.kind"), non_scalars=False)(empty) == "NONE"
    unknown = message_class(stock_type())(kind=7)
    assert message_reader(parse("VALUE.kind"), non_scalars=False)(unknown) == "7"


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("VALUE.nope", r"VALUE\.nope: \[nope\] not found"),
        ("VALUE.DESCRIPTOR", r"\[DESCRIPTOR\] not found"),
        ("VALUE.places[1]", r"\[1\] not found"),
        ("VALUE.tags.b", r"\[b\] not found"),
        ("VALUE.by_number.x", r"\[x\] not found"),
        ("VALUE.by_number['6']", r"\[6\] not found"),
        ("VALUE.by_truth.false", r"\[false\] not found"),
        ("VALUE.name.x", r"cannot take \[x\] from a plain value"),
        ("VALUE.name[0]", r"cannot take \[0\] from a plain value"),
        ("VALUE[0]", r"cannot take \[0\] from a message"),
        ("VALUE.places.x", r"cannot take \[x\] from a list"),
        ("VALUE.tags[0]", r"cannot take \[0\] from a map"),
        ("VALUE.where", "is a message, not a plain value"),
        ("VALUE.places", "is a list, not a plain value"),
        ("VALUE.tags", "is a map, not a plain value"),
    ],
)
def test_what_is_not_there_is_said(expression: str, says: str) -> None:
    with pytest.raises(ExtractionFailed, match=says):
        message_reader(parse(expression), non_scalars=False)(a_stock())


def test_reading_does_not_put_keys_into_maps() -> None:
    stock = a_stock()
    with pytest.raises(ExtractionFailed):
        message_reader(parse("VALUE.by_number['6'].name"), non_scalars=False)(stock)
    assert list(stock.by_number) == [-5]


def test_null() -> None:
    assert message_reader(parse("VALUE"), non_scalars=False)(None) is None
    with pytest.raises(ExtractionFailed, match=r"cannot take \[name\] from null"):
        message_reader(parse("VALUE.name"), non_scalars=False)(None)
    with pytest.raises(ExtractionFailed, match="from null"):
        message_expander(parse_wrapped("#{VALUE.*}", wildcard=True))(None)


def test_messages_lists_and_maps_as_text() -> None:
    def text(expression: str) -> object:
        return json.loads(message_reader(parse(expression), non_scalars=True)(a_stock()) or "")

    assert text("VALUE.where") == {"x": 0.7, "name": "here"}
    assert text("VALUE.levels") == [1.5, 0.2]
    assert text("VALUE.by_truth") == {"true": 0.3}
    assert text("VALUE.by_number") == {"-5": {"x": 0, "name": "minus five"}}
    assert text("VALUE")["name"] == "Anduct"  # type: ignore[index]


def test_wildcards() -> None:
    def parts(expression: str) -> dict[str, str | None]:
        return message_expander(parse_wrapped(expression, wildcard=True))(a_stock())

    every = parts("#{VALUE.*}")
    assert (every["name"], every["kind"], every["levels"]) == ("Anduct", "BOND", "[1.5,0.2]")
    assert parts("#{VALUE.levels.*}") == {"levels[0]": "1.5", "levels[1]": "0.2"}
    assert parts("#{VALUE.tags.*}") == {"a": "A"}
    with pytest.raises(ExtractionFailed, match="has no parts"):
        parts("#{VALUE.name.*}")
