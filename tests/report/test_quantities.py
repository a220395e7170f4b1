from __future__ import annotations

import pytest

from streamgauge.report.quantities import (
    bytes_per_s_text,
    count_text,
    digits_text,
    ms_text,
    plural,
    rate_per_s_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.0421, "0.042"),
        (3.14159, "3.142"),
        (31.4159, "31.42"),
        (314.159, "314.2"),
        (31415.9, "31,416"),
        (-0.5, "-0.500"),
        (None, "–"),
    ],
)
def test_digits(value: float | None, text: str) -> None:
    assert digits_text(value) == text


def test_units() -> None:
    assert ms_text(1.5) == "1.500 ms"
    assert ms_text(None) == "–"
    assert count_text(1234567) == "1,234,567"
    assert (plural(1, "message"), plural(2000, "message")) == ("1 message", "2,000 messages")
    assert (rate_per_s_text(999.96), rate_per_s_text(2.5)) == ("1,000/s", "2.500/s")
    assert bytes_per_s_text(2048) == "2.0 KiB/s"
