from __future__ import annotations

import pytest

from streamgauge.gateway.connector.items import parse_item, parse_template


def test_items_are_the_same_in_whatever_order_their_parameters_come() -> None:
    assert parse_item("a-b") == parse_item("a-b-[]")
    item = parse_item("user-[lastName=Kirk,firstName=James T.]")
    assert item == parse_item("user-[firstName=James T.,lastName=Kirk]")
    assert (item.prefix, item.names, item.values) == (
        "user",
        ("firstName", "lastName"),
        ("James T.", "Kirk"),
    )
    assert parse_item("i-[a=x=y]]").values == ("x=y]",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no item"),
        ("a b", "no item"),
        ("a-[b=1", "no item"),
        ("a-[b]", "not name=value"),
        ("a-[b=]", "not name=value"),
        ("a-[b=1,,c=2]", "not name=value"),
        ("a-[1b=1]", "not name=value"),
        ("a-[b=1,b=2]", "'b' is there twice"),
    ],
)
def test_bad_items(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_item(text)


def test_templates() -> None:
    template = parse_template("stock-#{z=VALUE.a[0],index=KEY}")
    assert (template.prefix, template.names) == ("stock", ("index", "z"))
    assert [str(e) for e in template.expressions] == ["KEY", "VALUE.a[0]"]
    assert parse_template("ltest") == parse_template("ltest")
    assert parse_template("ltest").names == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stock-#{}", "no item template"),
        ("stock#{a=KEY}", "no item template"),
        ("st ock-#{a=KEY}", "no item template"),
        ("stock-#{a=KEY", "no item template"),
        ("stock-#{KEY}", "not name=value"),
        ("stock-#{a=KEY,a=VALUE}", "there twice"),
        ("stock-#{a=KIY}", "must begin with one of"),
        ("stock-#{a=VALUE.*}", "wildcard"),
    ],
)
def test_bad_templates(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_template(text)
