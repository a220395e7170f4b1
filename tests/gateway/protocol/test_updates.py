from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.updates import Diffing, ItemDecoder, Row, encode_delta, encode_full
from tests.proof import tries

from .strategies import containers, edited, texts, tricky

ORDERS = [(), ("P",), ("T",), ("P", "T"), ("T", "P")]
PLAIN = Diffing()


def row(*values: str | None) -> Row:
    return Row(values)


def same_value(got: str | None, meant: str | None, *, as_json: bool) -> bool:
    if got == meant:
        return True
    return as_json and got is not None and meant is not None and json.loads(got) == json.loads(meant)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str | None, ...]]:
    """Rows, one after another: fields that stay, that change a little, and that become something else."""
    width = draw(st.integers(1, 7))
    rows: list[tuple[str | None, ...]] = []
    current: list[str | None] = [None] * width
    documents: dict[int, object] = {}
    for _ in range(draw(st.integers(1, 8))):
        for field in range(width):
            match draw(
                st.sampled_from(["stays", "stays", "document", "edited", "text", "null", "empty", "longer"])
            ):
                case "document":
                    documents[field] = draw(containers)
                    current[field] = json.dumps(documents[field])
                case "edited" if field in documents:
                    documents[field] = draw(edited(documents[field]))
                    current[field] = json.dumps(documents[field])
                case "text":
                    current[field] = draw(texts | tricky)
                case "longer":
                    current[field] = (current[field] or "") + draw(texts | tricky)
                case "null":
                    current[field] = None
                case "empty":
                    current[field] = ""
        rows.append(tuple(current))
    return rows


@pytest.mark.proof
@given(
    histories(),
    st.sampled_from(ORDERS),
    st.sampled_from([0, 20, 50]),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
@tries(300, 20_000)
def test_any_mix_of_full_delta_patch_and_diff_decodes_to_the_same_values(
    history: list[tuple[str | None, ...]], order: tuple[str, ...], minimum: int, full: list[bool]
) -> None:
    diffing = Diffing(order, minimum)  # type: ignore[arg-type]
    decoder = ItemDecoder(len(history[0]))
    before: Row | None = None
    for values, is_full in zip(history, full, strict=False):
        new = Row(values)
        body = encode_full(new) if before is None or is_full else encode_delta(before, new, diffing)
        assert b"\r" not in body
        assert b"\n" not in body
        decoded = decoder.apply(body.decode())
        assert all(same_value(g, m, as_json="P" in order) for g, m in zip(decoded, values, strict=True))
        before = new


@given(st.text(max_size=30), st.integers(1, 4))
@tries(300, 5000)
def test_no_body_makes_the_decoder_fail_unexpectedly(body: str, fields: int) -> None:
    decoder = ItemDecoder(fields)
    decoder.apply("|".join(["[1]"] * fields))
    try:
        values = decoder.apply(body)
    except ValueError:
        return
    assert len(values) == fields


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (None, b"#"),
        ("", b"$"),
        ("#", b"%23"),
        ("$", b"%24"),
        ("^3", b"%5E3"),
        ("a#$^", b"a#$^"),
        ("a|b", b"a%7Cb"),
        ("100%", b"100%25"),
        ("a,b", b"a,b"),
        ("x\r\ny", b"x%0D%0Ay"),
        ("é", "é".encode()),
        ("\ud800", b"?"),
    ],
)
def test_values_on_the_wire(value: str | None, token: bytes) -> None:
    assert encode_full(row(value)) == token


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("abcdefghij", "Abcdefghij", b"A|^9"),
        ("abcdefghij", "abcdefghij", b"^10"),
        ("abcd", "abcX", b"|||X"),
        ("abcde", "abcdX", b"^4|X"),
        ("abcdef", "XbcdeY", b"X|^4|Y"),
        ("a", "a", b""),
        ("ab", "ab", b"|"),
    ],
)
def test_unchanged_fields(old: str, new: str, body: bytes) -> None:
    assert encode_delta(row(*old), row(*new), PLAIN) == body


def test_the_examples_of_the_protocol_decode() -> None:
    decoder = ItemDecoder(10)
    decoder.apply("20:00:33|3.04|0.0|2.41|3.67|3.03|3.04|#|#|$")
    assert decoder.values == ["20:00:33", "3.04", "0.0", "2.41", "3.67", "3.03", "3.04", None, None, ""]
    decoder.apply("20:00:54|3.07|0.98|||3.06|3.07|||Suspended")
    assert decoder.values == [
        "20:00:54",
        "3.07",
        "0.98",
        "2.41",
        "3.67",
        "3.06",
        "3.07",
        None,
        None,
        "Suspended",
    ]
    decoder.apply("20:04:40|^4|3.02|3.03|||")
    assert decoder.values == [
        "20:04:40",
        "3.07",
        "0.98",
        "2.41",
        "3.67",
        "3.02",
        "3.03",
        None,
        None,
        "Suspended",
    ]
    decoder.apply("20:06:10|3.05|0.32|^7")
    assert decoder.values == [
        "20:06:10",
        "3.05",
        "0.32",
        "2.41",
        "3.67",
        "3.02",
        "3.03",
        None,
        None,
        "Suspended",
    ]


def test_a_patch_is_used_where_it_is_shorter() -> None:
    old = {"id": "Ann", "texts": ["x" * 256] * 4, "numbers": [1, 2, 3, 4], "timestamp": "10:00:00.000"}
    new = {**old, "numbers": [1, 2, 9, 4], "timestamp": "10:00:01.000"}
    body = encode_delta(row(json.dumps(old)), row(json.dumps(new)), Diffing(("P",), 500))
    assert body == (
        b'^P[{"op":"replace","path":"/numbers/2","value":9},'
        b'{"op":"replace","path":"/timestamp","value":"10:00:01.000"}]'
    )
    assert encode_delta(row(json.dumps(old)), row(json.dumps(new)), Diffing(("P",), 5000)).startswith(
        b'{"id"'
    )
    assert encode_delta(row("[1]"), row("[2]"), Diffing(("P",), 0)) == b"[2]"


def test_a_text_difference_is_used_where_it_is_shorter_and_no_patch_can_have_been() -> None:
    both = Diffing(("P", "T"), 0)
    assert encode_delta(row("x" * 40 + "a"), row("x" * 40 + "b"), both) == b"^TBobb"
    assert encode_delta(row("ab"), row("ac"), both) == b"ac"
    document = json.dumps({"a": "x" * 40})
    assert encode_delta(row(document), row(document + "nonsense"), both) == (document + "nonsense").encode()
    assert encode_delta(row(document), row(document + "nonsense"), Diffing(("T",), 0)).startswith(b"^T")


@pytest.mark.parametrize(
    "body", ["", "|", "a|b|c|d", "a|b", "^4", "^0|a|b", "^|a|b", "^x|a|b", "^P[]|a|b", "^Taa|a|b", "%zz|a|b"]
)
def test_updates_that_cannot_be_are_refused(body: str) -> None:
    decoder = ItemDecoder(3)
    if body == "a|b|c|d":
        assert decoder.apply(body) == ["a", "b", "c"]
        return
    with pytest.raises(ValueError):  # noqa: PT011 - any kind will do
        decoder.apply(body)


def test_a_text_difference_of_a_patched_value_is_refused() -> None:
    decoder = ItemDecoder(1)
    decoder.apply("[1]")
    assert decoder.apply('^P[{"op":"replace","path":"/0","value":2}]') == ["[2]"]
    with pytest.raises(ValueError, match="patched"):
        decoder.apply("^Ta")
