from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.java_properties import parse, render


def test_text_is_escaped_as_java_reads_it() -> None:
    assert render({"a": "b\\c", "d": "é😀", "e": "1\n2"}) == ("a=b\\\\c\nd=\\u00e9\\ud83d\\ude00\ne=1\\n2\n")


@given(
    st.dictionaries(st.from_regex(r"[a-z.]+", fullmatch=True), st.from_regex(r"\S(.*\S)?", fullmatch=True))
)
def test_what_is_written_is_read_back(properties: dict[str, str]) -> None:
    assert parse(render(properties)) == properties


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", {"a": "b"}),
        ("a : b", {"a": "b"}),
        ("  a b c ", {"a": "b c "}),
        ("# a=b\n! c=d\n\n", {}),
        ("a=b\na=c", {"a": "c"}),
        ("a=b, \\\n   c", {"a": "b, c"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\=b=c\\:\\u00e9\\t", {"a=b": "c:é\t"}),
        ("a", {"a": ""}),
        ("a=b\\", {"a": "b"}),
        (
            "sasl.jaas.config=X required user=\"u\" password='p=#1';",
            {"sasl.jaas.config": "X required user=\"u\" password='p=#1';"},
        ),
    ],
)
def test_it_is_read_as_java_reads_it(text: str, found: dict[str, str]) -> None:
    assert parse(text) == found
