from __future__ import annotations

import pytest

from streamgauge.core.holm import holm


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.2, None, 0.01], [0.2, None, 0.02]),
        ([0.6, 0.7], [1.0, 1.0]),
        ([], []),
        ([None], [None]),
    ],
)
def test_holm_against_the_textbook(p_values: list[float | None], corrected: list[float | None]) -> None:
    assert holm(p_values) == pytest.approx(corrected)
