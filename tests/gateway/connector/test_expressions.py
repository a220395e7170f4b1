from __future__ import annotations

import pytest

from streamgauge.gateway.connector.expressions import Root, parse, parse_wrapped


@pytest.mark.parametrize(
    ("text", "root", "steps"),
    [
        ("KEY", Root.KEY, ()),
        ("VALUE.a.b", Root.VALUE, ("a", "b")),
        ("VALUE.a['b']", Root.VALUE, ("a", "b")),
        ("VALUE['a.b'].c", Root.VALUE, ("a.b", "c")),
        ("VALUE.a[0][12]['k']", Root.VALUE, ("a", 0, 12, "k")),
        ("VALUE[3]", Root.VALUE, (3,)),
        ("HEADERS.trace", Root.HEADERS, ("trace",)),
        ("HEADERS[1]", Root.HEADERS, (1,)),
        ("VALUE.with space", Root.VALUE, ("with space",)),
        ("VALUE.a['']", Root.VALUE, ("a", "")),
        ("TOPIC", Root.TOPIC, ()),
        ("TIMESTAMP", Root.TIMESTAMP, ()),
        ("PARTITION", Root.PARTITION, ()),
        ("OFFSET", Root.OFFSET, ()),
    ],
)
def test_root_and_steps(text: str, root: Root, steps: tuple[object, ...]) -> None:
    expression = parse(text)
    assert (expression.root, expression.steps, str(expression)) == (root, steps, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must begin with one of KEY, VALUE"),
        ("value.a", "must begin with one of"),
        ("VALUES", "must begin with one of"),
        (" VALUE", "must begin with one of"),
        ("VALUE.", "name without blanks must follow the dot at character 6"),
        ("VALUE..a", "must follow the dot at character 6"),
        ("VALUE. a", "name without blanks"),
        ("VALUE.a ", "name without blanks"),
        ("VALUE.a[", "must stand an index"),
        ("VALUE.a[x]", "must stand an index"),
        ("VALUE.a[-1]", "must stand an index"),
        ("VALUE.a['b]", "must stand an index"),
        ("VALUE.a[0]b", "'b' at character 11 is not expected"),
        ("VALUE.a]", "']' at character 8 is not expected"),
        ("TOPIC.a", "TOPIC is a plain value"),
        ("OFFSET[0]", "OFFSET is a plain value"),
        ("VALUE.*", "wildcard is allowed only"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("[", r"\[")):
        parse(text)


def test_wrapping() -> None:
    assert parse_wrapped("#{VALUE.a}").steps == ("a",)
    for text in ("VALUE", "#{}", "#{VALUE", "{VALUE}", "x#{VALUE}", "#{VALUE} "):
        with pytest.raises(ValueError, match="not an extraction expression"):
            parse_wrapped(text)


def test_wildcards() -> None:
    expression = parse_wrapped("#{VALUE.a[0].*}", wildcard=True)
    assert (expression.steps, expression.wildcard) == (("a", 0), True)
    assert parse_wrapped("#{HEADERS.*}", wildcard=True).steps == ()
    with pytest.raises(ValueError, match=r"must end in \.\* here"):
        parse_wrapped("#{VALUE}", wildcard=True)
    with pytest.raises(ValueError, match="TOPIC has no parts"):
        parse_wrapped("#{TOPIC.*}", wildcard=True)
    with pytest.raises(ValueError, match="wildcard is allowed only"):
        parse_wrapped("#{VALUE.*}")
