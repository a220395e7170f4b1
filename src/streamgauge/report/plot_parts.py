"""What all plots have in common: colours, axes and safe text."""

from __future__ import annotations

import html
from typing import Any

Trace = dict[str, Any]
"""A line, its style or an axis, as Plotly takes them; a colour may be a CSS variable of the page."""

_PALETTE_SIZE = 6
_DASHES = ("solid", "dash", "dot", "dashdot")


def plain(text: str) -> str:
    """Plotly reads some HTML in names; a name is to be shown as it is."""
    return html.escape(text, quote=False)


def value_axis(lines: list[Trace], unit: str) -> Trace:
    """Logarithmic, where most values can be shown so; the reader can switch it."""
    values = [value for line in lines for value in line["y"] if value is not None]
    positive = [value for value in values if value > 0]
    axis: Trace = {"title": {"text": unit}, "type": "log" if 2 * len(positive) > len(values) else "linear"}
    if axis["type"] == "log" and max(positive) / min(positive) > 50:
        # One label a decade; over a narrower range Plotly's own choice says more.
        axis["dtick"] = 1
    return axis


def axis_note(lines: list[Trace], axis: Trace) -> str | None:
    """No value at or below zero vanishes in silence."""
    if axis.get("type") != "log" or all(y is None or y > 0 for line in lines for y in line["y"]):
        return None
    return "Values at or below zero have no place on a log scale; the linear scale shows them."


def line_style(number: int, width: float) -> Trace:
    dash = _DASHES[number // _PALETTE_SIZE % len(_DASHES)]
    return {"color": f"var(--line-{number % _PALETTE_SIZE + 1})", "width": width, "dash": dash}


def short(value: float) -> float:
    """Five figures: what a plot can show, and half the page's size."""
    return float(f"{value:.5g}")
