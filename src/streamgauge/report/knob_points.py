"""What a knob does: latency and throughput over one knob, for several clusters or runs side by side.

Cases that differ in other knobs as well come apart into panels; rounds of the same case are put together
as if they were one: the least of the least, the mean over all messages, the rate over all their time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.core.units import format_bytes
from streamgauge.report.document import Document
from streamgauge.report.parameters import plain_value
from streamgauge.report.plotted import PlottedCase
from streamgauge.report.quantities import plural

_ENVIRONMENT = (
    "hostname",
    "cpu",
    "cores",
    "memory_bytes",
    "swap_bytes",
    "distribution",
    "kernel",
    "disk",
    "sysctls",
    "python",
    "versions",
)


@dataclass(frozen=True)
class Point:
    """All rounds of one case, in ms and a second."""

    min_ms: float | None
    mean_ms: float | None
    max_ms: float | None
    kib_per_s: float | None
    messages_per_s: float | None


_OTHER_NAMES = {"size": "message-size"}
"""Knobs by the name of the flag that turns them."""


@dataclass(frozen=True)
class Panel:
    """Everything with the same values of all knobs but one."""

    title: str
    points: dict[str, dict[Any, Point]]
    """By series, by the value of the knob."""


@dataclass(frozen=True)
class KnobPlot:
    knob: str
    values: tuple[Any, ...]
    """All values of the knob, in order: each has a place on the axis."""
    series: tuple[str, ...]
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    is_ours: bool = True
    """No other tool measured any of it."""

    @property
    def latency_words(self) -> str:
        return (
            "Latency from the intended time; rates of streams side by side"
            if self.is_ours
            else "Latency as each tool measures it"
        )

    def label(self, value: Any) -> str:
        return format_bytes(value) if self.knob.endswith("size") and isinstance(value, int) else str(value)


def knob_plot(documents: Sequence[Document], knob: str | None = None) -> KnobPlot | None:
    """None when no knob was turned, unless one is named: then it is plotted all the same."""
    cases = [case for document in documents for case in _whole_cases(document)]
    planned = [case for document in documents for case in document.plotted]
    offered = list(dict.fromkeys(name for case in planned for name in case.knobs))
    varied = [name for name in offered if len(knob_values(cases, name)) > 1]
    if knob is None:
        knob = _most_telling(cases, varied)
        if knob is None:
            return None
    if not cases:
        raise BadInput("there is no case with a latency to plot")
    knob = _OTHER_NAMES.get(knob, knob) if knob not in offered else knob
    if knob not in offered:
        raise BadInput(
            f"--x {knob}: there is no such knob; allowed: {', '.join(offered) or 'none is told of'}"
        )
    names = _series_names(documents)
    telling = _telling_fields(cases, {knob, *varied})
    grouped: dict[str, dict[str, dict[Any, list[PlottedCase]]]] = {}
    for number, document in enumerate(documents):
        for case in _whole_cases(document):
            panel = _panel_title(case, [name for name in varied if name != knob], telling)
            series = names[number, case.series]
            places = grouped.setdefault(panel, {}).setdefault(series, {})
            places.setdefault(plain_value(case.knobs.get(knob)), []).append(case)
    return KnobPlot(
        knob=knob,
        values=tuple(knob_values(cases, knob)),
        series=tuple(dict.fromkeys(names.values())),
        panels=tuple(
            Panel(title, {series: {x: _point(c) for x, c in at.items()} for series, at in panel.items()})
            for title, panel in grouped.items()
        ),
        notes=tuple(_notes(documents)),
        is_ours=all(case.other_leg is None for case in cases),
    )


def _whole_cases(document: Document) -> list[PlottedCase]:
    return [case for case in document.plotted if case.mean_ms is not None]


def knob_values(cases: Sequence[PlottedCase], knob: str) -> list[Any]:
    """Different values: numbers by size, others as they come."""
    return in_order(case.knobs.get(knob) for case in cases)


def in_order(values: Iterable[Any]) -> list[Any]:
    found = list(dict.fromkeys(plain_value(value) for value in values))
    are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in found)
    return sorted(found) if are_numbers else found


def _most_telling(cases: Sequence[PlottedCase], varied: list[str]) -> str | None:
    if "partitions" in varied:
        return "partitions"
    return max(varied, key=lambda name: len(knob_values(cases, name)), default=None)


def _telling_fields(cases: Sequence[PlottedCase], knobs: Iterable[str]) -> list[str]:
    """Swept fields that tell cases apart which the knobs do not; others follow from these, as a time limit
    does from a rate, and a panel for each would take every line apart."""
    found: dict[str, None] = {}
    by_knobs: dict[tuple[Any, ...], dict[str, set[str]]] = {}
    for case in cases:
        place = tuple(plain_value(case.knobs.get(name)) for name in knobs)
        values = by_knobs.setdefault(place, {})
        for path, value in case.others.items():
            values.setdefault(path, set()).add(str(value))
            if len(values[path]) > 1:
                found[path] = None
    return list(found)


def _panel_title(case: PlottedCase, varied: list[str], telling: list[str]) -> str:
    parts = []
    for name in varied:
        value = case.knobs.get(name)
        is_size = name.endswith("size")
        parts.append(f"{name} {format_bytes(value) if is_size and isinstance(value, int) else value}")
    parts += [f"{path} {case.others[path]}" for path in telling if path in case.others]
    return " · ".join(parts)


def _series_names(documents: Sequence[Document]) -> dict[tuple[int, str], str]:
    """A cluster's name; where two runs have the same, what tells the runs apart as well."""
    targets = [
        (number, target)
        for number, document in enumerate(documents)
        for target in dict.fromkeys(case.series for case in document.plotted)
    ]
    names = [target for _, target in targets]
    runs = [document.run for document in documents]
    ends = [run.rpartition("-")[2] for run in runs]
    labels = ends if len(set(ends)) == len(ends) else runs
    return {
        (number, target): target if names.count(target) == 1 else f"{target} {labels[number]}"
        for number, target in targets
    }


def _point(cases: list[PlottedCase]) -> Point:
    """What one round does not tell is not known of all of them."""
    # Rounds of which nobody told how many messages they had count alike.
    counts = [case.message_count for case in cases]
    weights = [1 if None in counts else count or 0 for count in counts]
    lasted_s = sum(case.lasted_s for case in cases)

    def known(name: str) -> list[float]:
        found = [getattr(case, name) for case in cases]
        return [] if None in found else found

    def per_s(name: str) -> float | None:
        amount = sum(getattr(case, name) for case in cases if case.lasted_s)
        return amount / lasted_s if lasted_s else None

    means = known("mean_ms")
    return Point(
        min_ms=min(known("min_ms"), default=None),
        mean_ms=sum(mean * weight for mean, weight in zip(means, weights, strict=True)) / sum(weights),
        max_ms=max(known("max_ms"), default=None),
        kib_per_s=per_s("kib") or None,
        messages_per_s=per_s("messages") or None,
    )


def _notes(documents: Sequence[Document]) -> list[str]:
    """Runs that were made elsewhere, or otherwise, are not set side by side in silence."""
    whole = [case for document in documents for case in _whole_cases(document)]
    differ = []
    for name in _ENVIRONMENT:
        # An older run does not tell of its swap: that is no difference.
        told = [document.environment[name] for document in documents if name in document.environment]
        if any(one != told[0] for one in told[1:]):
            differ.append(name)
    notes = [f"The runs' environments differ: {', '.join(differ)}."] if differ else []
    notes += dict.fromkeys(
        f"Measured by {case.series}: {case.other_leg}. Whether its figures may be quoted is not known."
        for case in whole
        if case.other_leg
    )
    if any(case.min_ms is not None and case.min_ms <= 0 for case in whole):
        notes.append("Latencies at or below zero have no place on a log axis.")
    left_out = sum(len(document.plotted) for document in documents) - len(whole)
    if left_out:
        notes.append(f"{plural(left_out, 'case')} without latency: not in the plot.")
    faulty = [case.case for case in whole if not case.is_ok]
    if faulty:
        notes.append(f"Not all went well in case {', '.join(faulty)}.")
    return notes
