from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol import text_diff

from ...core.properties import untimed

basic = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=60)


@given(basic, basic)
@untimed
def test_a_difference_leads_to_the_new_text(old: str, new: str) -> None:
    made = text_diff.diff(old, new)
    assert made is not None
    assert text_diff.apply(old, made) == new


@given(basic, basic, basic, basic)
@untimed
def test_what_is_common_is_not_sent(front: str, old: str, new: str, behind: str) -> None:
    made = text_diff.diff(front + old + behind, front + new + behind)
    assert made is not None
    assert len(made) <= len(new) + 12
    assert text_diff.apply(front + old + behind, made) == front + new + behind


@pytest.mark.parametrize(
    ("old", "difference", "new"),
    [
        ("foo", "d", "foo"),
        ("foobar", "d", "foo"),
        ("foobar", "bdzap", "fzap"),
        ("foobar", "bdzapcd", "fzapbar"),
        ("foobar", "adzapad", "zapfoo"),
        ("foobar", "cacc", "foar"),
        ("a" * 30, "Bd", "a" * 29),
        ("a" * 30, "", ""),
    ],
)
def test_known_differences(old: str, difference: str, new: str) -> None:
    assert text_diff.apply(old, difference) == new


def test_large_counts_have_capitals_in_front() -> None:
    assert text_diff.diff("x" * 29, "x" * 29) == "Bd"
    assert text_diff.diff("x" * 703, "x" * 703) == "BBb"


@pytest.mark.parametrize("difference", ["z", "A", "bz", "b" + "dza", "1", "adzap", "ab\xe9z", "aad", "aaz"])
def test_what_does_not_fit_is_refused(difference: str) -> None:
    if difference == "adzap":
        assert text_diff.apply("ab", difference) == "zap"
    elif difference == "ab\xe9z":
        with pytest.raises(ValueError, match="reaches past"):
            text_diff.apply("ab", difference)
    else:
        with pytest.raises(ValueError, match="TLCP-diff"):
            text_diff.apply("ab", difference)


def test_it_is_not_for_characters_outside_the_basic_plane() -> None:
    assert text_diff.diff("a😀", "b😀") is None
    assert text_diff.diff("ab", "a😀") is None
    assert text_diff.diff("aé", "bé") is not None
