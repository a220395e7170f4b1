"""The picture of docs/scale.md: what was measured at which size, on scales where a power law is a line.

The legend has the exponent; of the analysis, what a message costs where many share what it costs to begin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.analysis_cost import EVENTS_A_MESSAGE
from bench.growth import growth_of, line_of
from streamgauge.analysis.feeding.sizing import are_few_for_spark

PICTURE = Path(__file__).parents[1] / "docs" / "scale-curves.svg"
_WIDTH, _HEIGHT, _LEFT, _TOP, _PLOT_W, _PLOT_H = 1080, 300, 62, 40, 260, 200
_STEP = 350
_COLOURS = ("#1a5fb4", "#c64600", "#26a269", "#813d9c")


class Panel(NamedTuple):
    title: str
    across: str
    up: str
    series: Mapping[str, tuple[str, str]]
    """What it is called → part and name of the figure."""
    is_of_analysis: bool = False
    """What Spark analyses costs the same for each: the legend says how much, in µs."""


PANELS = (
    Panel(
        "analysis",
        "messages",
        "s",
        {"in order": ("analysis", "seconds"), "64 producers": ("packed", "seconds")},
        is_of_analysis=True,
    ),
    Panel(
        "launch",
        "agents",
        "s",
        {"start": ("launch", "start_s"), "agree": ("launch", "agree_s"), "end": ("launch", "end_s")},
    ),
    Panel(
        "a run of many cases",
        "cases",
        "s",
        {"plan": ("cases", "plan"), "resume": ("cases", "resume"), "list": ("cases", "list"),
         "note one": ("cases", "note")},
    ),
)  # fmt: skip


def by_spark(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those of sizes that Spark's processes analyse: below them this process goes two ways of its own."""
    return [point for point in points if not are_few_for_spark(EVENTS_A_MESSAGE * int(point[0]))]


def draw(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        f' font-size="11"><rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
    ]
    for number, panel in enumerate(PANELS):
        lines = {
            name: [
                (float(size), found[figure])
                for size, found in figures.get(part, {}).items()
                if found.get(figure, 0) > 0
            ]
            for name, (part, figure) in panel.series.items()
        }
        drawn = {name: points for name, points in lines.items() if points}
        if drawn:
            parts.append(f'<g transform="translate({_LEFT + number * _STEP},{_TOP})">')
            parts += _panel(panel, drawn)
            parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, lines: Mapping[str, list[tuple[float, float]]]) -> list[str]:
    points = [point for line in lines.values() for point in line]
    (x_low, x_high), (y_low, y_high) = (_decades([point[n] for point in points]) for n in (0, 1))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return across * _PLOT_W, (1 - up) * _PLOT_H

    svg = [f'<text x="0" y="-14" font-size="13" font-weight="bold">{panel.title}</text>']
    for decade in range(x_low, x_high + 1):
        x, _ = at(10.0**decade, 10.0**y_low)
        svg.append(f'<path d="M{x:.1f} 0V{_PLOT_H}" stroke="#ddd"/>')
        svg.append(f'<text x="{x:.1f}" y="{_PLOT_H + 14}" text-anchor="middle">{_short(decade)}</text>')
    for decade in range(y_low, y_high + 1):
        _, y = at(10.0**x_low, 10.0**decade)
        svg.append(f'<path d="M0 {y:.1f}H{_PLOT_W}" stroke="#ddd"/>')
        svg.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{_short(decade)} {panel.up}</text>')
    svg.append(f'<text x="{_PLOT_W / 2}" y="{_PLOT_H + 32}" text-anchor="middle">{panel.across}</text>')
    for colour, (row, (name, line)) in zip(_COLOURS, enumerate(lines.items()), strict=False):
        places = [at(*point) for point in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        svg.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        legend = name + _grows(line, is_of_analysis=panel.is_of_analysis)
        svg.append(f'<text x="6" y="{12 + 13 * row}" fill="{colour}">{legend}</text>')
    return svg


def _grows(line: list[tuple[float, float]], *, is_of_analysis: bool) -> str:
    if is_of_analysis and len(large := by_spark(line)) > 1:
        found = line_of(large)
        return f": {found.start:.1f} s + {found.slope * 1e6:.2f} µs each"
    return f" ∝ {growth_of(line).text()}" if len(line) > 1 else ""


def _decades(values: list[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _short(decade: int) -> str:
    if decade < 0:
        return f"{10.0**decade:g}"
    for power, letter in ((9, "G"), (6, "M"), (3, "k")):
        if decade >= power:
            return f"{10 ** (decade - power)}{letter}"
    return f"{10**decade}"
