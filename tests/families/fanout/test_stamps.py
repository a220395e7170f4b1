from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.families.fanout.stamps import STAMP_LENGTH, StampReader, stamp_text


@given(st.integers(0, 4_102_444_800 * 10**9))
def test_a_time_is_read_as_it_was_written(wall_ns: int) -> None:
    text = stamp_text(wall_ns)
    assert len(text) == STAMP_LENGTH
    assert StampReader().read(text + "-pid-1") == wall_ns


def test_begins_with_the_published_form() -> None:
    assert stamp_text(1_700_000_000_123_456_789) == "2023-11-14 22:13:20.123456789"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-11-14 22:13:20.123",
        "2023-11-14 22:13:20,123456789",
        "2023-11-14 22:13:2x.123456789",
        "x" * 29,
    ],
)
def test_what_is_no_time_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|does not match"):
        StampReader().read(text)
