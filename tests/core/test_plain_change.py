from __future__ import annotations

import numpy as np
import pytest

from streamgauge.core.plain_change import Change, plain_change


def found(*medians_ms: float) -> Change | None:
    return plain_change(np.array(medians_ms))


def test_a_step_is_told_with_its_place() -> None:
    assert found(0.69, 0.70, 0.44, 0.45, 0.44) == Change(0.695, 0.44, 2)


def test_a_slope_is_told_by_what_was_there() -> None:
    """The line through them begins below zero."""
    change = found(0.01, 0.1, 0.5, 0.6, 4.0)
    assert change is not None
    assert change.second is None
    assert change.before_ms == pytest.approx(0.055)
    assert change.after_ms == pytest.approx(2.3)


@pytest.mark.parametrize(
    "medians_ms",
    [
        (0.60, 0.58, 0.55, 0.55, 0.55),
        (2.0, 2.1, 1.9, 2.0, 2.0),
        (0.010, 0.010, 0.040, 0.040, 0.040),
        (2.0, 2.0, 200.0, 2.0, 2.0),
        (9.0, 1.0, 1.0),
    ],
    ids=["small", "none", "microseconds", "one second", "too few"],
)
def test_what_is_no_plain_change(medians_ms: tuple[float, ...]) -> None:
    assert found(*medians_ms) is None
