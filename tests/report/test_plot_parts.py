from __future__ import annotations

import pytest

from streamgauge.report.plot_parts import (
    PALETTE_SIZE,
    Axis,
    Series,
    Style,
    axis_note,
    line_style,
    short,
    value_axis,
)


def series(*values: float | None) -> list[Series]:
    return [Series("a", list(range(len(values))), values, Style(0))]


@pytest.mark.parametrize(
    ("values", "axis"),
    [
        ((1.0, 2.0, None), Axis("ms", "log")),
        ((1.0, 51.0), Axis("ms", "log", by_decades=True)),
        ((1.0, 1.0, -1.0), Axis("ms", "log")),
        ((1.0, 0.0), Axis("ms")),
        ((), Axis("ms")),
    ],
)
def test_an_axis_is_logarithmic_where_most_values_can_be_shown_so(
    values: tuple[float | None, ...], axis: Axis
) -> None:
    assert value_axis(series(*values), "ms") == axis


def test_what_a_log_axis_cannot_show_is_spoken_of() -> None:
    log = Axis(scale="log")
    assert axis_note(series(1.0, None, 2.0), log) is None
    assert "at or below zero" in (axis_note(series(1.0, 0.0), log) or "")
    assert axis_note(series(1.0, 0.0), Axis()) is None


def test_no_two_of_the_first_lines_look_alike() -> None:
    styles = [line_style(number, 2) for number in range(4 * PALETTE_SIZE)]
    assert len(set(styles)) == len(styles)
    assert styles[0].dash == "solid"
    assert line_style(4 * PALETTE_SIZE, 2) == styles[0]


def test_five_figures_are_enough_for_a_plot() -> None:
    assert short(1.23456789) == 1.2346
    assert short(123456.7) == 123460
