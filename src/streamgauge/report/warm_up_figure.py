"""The course of a warm-up that went on until the load was at rest: each level against where it ended."""

from __future__ import annotations

from statistics import median

from streamgauge.core.steady_state import LEAST_SLOTS, Unrest
from streamgauge.plan.warm_up_file import Series
from streamgauge.report.case_document import Waited, WarmUpCourse
from streamgauge.report.parameters import until_text
from streamgauge.report.plot_parts import Axis, Band, NumberText, Plot, line_style, short
from streamgauge.report.plot_parts import Series as Line

_NAMES = {
    Series.LATENCY: "latency, median",
    Series.RATE: "rate",
    Series.AGENTS_CPU: "CPU of agents",
    Series.SYSTEMS_CPU: "CPU of the system",
}
_UNREST_WORDS = {
    None: "too few messages to tell",
    Unrest.TOO_SHORT: "not long enough at one level",
    Unrest.TREND: "a trend",
    Unrest.STEP: "a step",
    Unrest.SWING: "a swing",
    Unrest.SCATTER: "scatter",
}
_WITH_SIZE = (Unrest.TREND, Unrest.STEP, Unrest.SWING)
_LEAST_LEVEL = 1e-3
"""Cores: what is divided by."""
_MOST_TOLD = 6


def warm_up_figure(course: WarmUpCourse | None, about: str = "Warm-up") -> Plot | None:
    if course is None:
        return None
    lines = [
        _line(number, course, _NAMES[series], levels, unit)
        for number, (series, levels, unit) in enumerate(
            (
                (Series.RATE, course.rate_per_s, "/s"),
                (Series.LATENCY, course.latency_ms, "ms"),
                (Series.AGENTS_CPU, course.agents_cores, "cores"),
                (Series.SYSTEMS_CPU, course.systems_cores, "cores"),
            )
        )
        if levels
    ]
    if not lines:
        return None
    ended = f"warm-up {until_text(course.end_s, course.ended)}"
    return Plot(
        f"{about}: {'rate' if course.rate_per_s else 'latency'} and CPU against their levels at the end",
        lines,
        Axis("seconds since the start", from_zero=True),
        Axis("times its level at the end", "log"),
        reading="across",
        bands=[Band(ended, 0, course.end_s)],
        note=_waited_text(course),
    )


def _line(number: int, course: WarmUpCourse, name: str, levels: list[float], unit: str) -> Line:
    level = max(median(levels[-LEAST_SLOTS:]), _LEAST_LEVEL)
    return Line(
        name,
        # A slot's level stands at its end: there it is known.
        [round((slot + 1) * course.slot_s, 2) for slot in range(len(levels))],
        [short(value / level) if value > 0 else None for value in levels],
        line_style(number, 2),
        told=NumberText("exactly", 2, "×"),
        labels=[f"{short(value):,} {unit}" for value in levels],
    )


def _waited_text(course: WarmUpCourse) -> str | None:
    """What kept it from rest, the last of it: the first of a cold system is no news."""
    if not course.waited:
        return None
    told = [
        f"{_NAMES[each.series]} ({_unrest_text(each)}) from {each.since_s:.3g} s" for each in course.waited
    ]
    left_out = "… " if len(told) > _MOST_TOLD else ""
    return f"It waited for: {left_out}{'; '.join(told[-_MOST_TOLD:])}."


def _unrest_text(waited: Waited) -> str:
    size = f" of {waited.change:+.0%}" if waited.unrest in _WITH_SIZE else ""
    return f"{_UNREST_WORDS[waited.unrest]}{size}"
