"""What a knob does: latency and throughput over one knob, for several clusters or runs side by side.

Cases that differ in other knobs as well come apart into panels; rounds of the same case are put together
as if they were one: the least of the least, the mean over all messages, the rate over all their time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.core.units import format_bytes
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.document import State
from streamgauge.report.parameters import Parameters
from streamgauge.report.quantities import plural

KNOBS: dict[str, Callable[[Parameters], Any]] = {
    "topics": lambda p: len(p.topics),
    "partitions": lambda p: p.partitions,
    "replicas": lambda p: p.replicas,
    "message-size": lambda p: p.message_size,
    "stream-size": lambda p: p.stream_size,
    "rate": lambda p: p.rate,
    "acks": lambda p: p.acks,
    "completions": lambda p: p.completions,
    "eos": lambda p: p.transaction_messages is not None,
    "compression": lambda p: p.compression,
    "producers": lambda p: None if p.streams == "per_partition" else p.producers,
    "consumers": lambda p: None if p.streams == "per_partition" else p.consumers,
}
"""What cases may differ in; streams of their own follow from topics and partitions."""

_IN_KNOBS = (
    "topics.count",
    "topics.partitions",
    "topics.replicas",
    "message.size",
    "stream_size",
    "rate",
    "acks",
    "completions",
    "transactions",
    "compression",
    "producers",
    "consumers",
)
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

    min_ms: float
    mean_ms: float
    max_ms: float
    kib_per_s: float | None
    messages_per_s: float | None


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

    def label(self, value: Any) -> str:
        return format_bytes(value) if self.knob.endswith("size") and isinstance(value, int) else str(value)


def knob_plot(documents: Sequence[CasesDocument], knob: str | None = None) -> KnobPlot | None:
    """None when no knob was turned, unless one is named: then it is plotted all the same."""
    cases = [case for document in documents for case in _whole_cases(document)]
    varied = [name for name, value_of in KNOBS.items() if len(knob_values(cases, value_of)) > 1]
    if knob is None:
        knob = _most_telling(cases, varied)
        if knob is None:
            return None
    if knob not in KNOBS:
        raise BadInput(f"--x {knob}: there is no such knob; allowed: {', '.join(KNOBS)}")
    if not cases:
        raise BadInput("there is no case with a latency to plot")
    names = _series_names(documents)
    telling = _telling_fields(cases, {knob, *varied})
    grouped: dict[str, dict[str, dict[Any, list[Case]]]] = {}
    for number, document in enumerate(documents):
        for case in _whole_cases(document):
            panel = _panel_title(case, [name for name in varied if name != knob], telling)
            series = names[number, case.target]
            places = grouped.setdefault(panel, {}).setdefault(series, {})
            places.setdefault(plain_value(KNOBS[knob](case.parameters)), []).append(case)
    return KnobPlot(
        knob=knob,
        values=tuple(knob_values(cases, KNOBS[knob])),
        series=tuple(dict.fromkeys(names.values())),
        panels=tuple(
            Panel(title, {series: {x: _point(c) for x, c in at.items()} for series, at in panel.items()})
            for title, panel in grouped.items()
        ),
        notes=tuple(_notes(documents)),
    )


def _whole_cases(document: CasesDocument) -> list[Case]:
    return [case for case in document.cases if case.main_latency.count]


def knob_values(cases: Sequence[Case], value_of: Callable[[Parameters], Any]) -> list[Any]:
    """Different values: numbers by size, others as they come."""
    found = list(dict.fromkeys(plain_value(value_of(case.parameters)) for case in cases))
    are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in found)
    return sorted(found) if are_numbers else found


def plain_value(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def _most_telling(cases: Sequence[Case], varied: list[str]) -> str | None:
    if "partitions" in varied:
        return "partitions"
    return max(varied, key=lambda name: len(knob_values(cases, KNOBS[name])), default=None)


def _telling_fields(cases: Sequence[Case], knobs: Iterable[str]) -> list[str]:
    """Swept fields that tell cases apart which the knobs do not; others follow from these, as a time limit
    does from a rate, and a panel for each would take every line apart."""
    found: dict[str, None] = {}
    by_knobs: dict[tuple[Any, ...], dict[str, set[str]]] = {}
    for case in cases:
        place = tuple(plain_value(KNOBS[name](case.parameters)) for name in knobs)
        values = by_knobs.setdefault(place, {})
        for path, value in case.parameters.swept.items():
            if path not in _IN_KNOBS:
                values.setdefault(path, set()).add(str(value))
                if len(values[path]) > 1:
                    found[path] = None
    return list(found)


def _panel_title(case: Case, varied: list[str], telling: list[str]) -> str:
    parameters = case.parameters
    parts = []
    for name in varied:
        value = KNOBS[name](parameters)
        sized = name.endswith("size") and isinstance(value, int)
        parts.append(f"{name} {format_bytes(value) if sized else value}")
    parts += [f"{path} {parameters.swept[path]}" for path in telling if path in parameters.swept]
    return " · ".join(parts)


def _series_names(documents: Sequence[CasesDocument]) -> dict[tuple[int, str], str]:
    """A cluster's name; where two runs have the same, what tells the runs apart as well."""
    targets = [
        (number, target)
        for number, document in enumerate(documents)
        for target in dict.fromkeys(case.target for case in document.cases)
    ]
    names = [target for _, target in targets]
    runs = [document.run for document in documents]
    ends = [run.rpartition("-")[2] for run in runs]
    labels = ends if len(set(ends)) == len(ends) else runs
    return {
        (number, target): target if names.count(target) == 1 else f"{target} {labels[number]}"
        for number, target in targets
    }


def _point(cases: list[Case]) -> Point:
    legs = [case.main_latency for case in cases]
    count = sum(leg.count for leg in legs)
    deliveries = [case.delivery for case in cases if case.delivery.runtime_s]
    runtime_s = sum(delivery.runtime_s or 0.0 for delivery in deliveries)

    def per_s(name: str, unit: float) -> float | None:
        amount = sum(getattr(delivery, name) * (delivery.partitions or 0) for delivery in deliveries)
        return amount / unit / runtime_s if runtime_s else None

    return Point(
        min_ms=min(leg.min or 0.0 for leg in legs),
        mean_ms=sum((leg.mean or 0.0) * leg.count for leg in legs) / count,
        max_ms=max(leg.max or 0.0 for leg in legs),
        kib_per_s=per_s("bytes", 1024),
        messages_per_s=per_s("messages", 1),
    )


def _notes(documents: Sequence[CasesDocument]) -> list[str]:
    """Runs that were made elsewhere, or otherwise, are not set side by side in silence."""
    differ = []
    for name in _ENVIRONMENT:
        # An older run does not tell of its swap: that is no difference.
        told = [document.environment[name] for document in documents if name in document.environment]
        if any(one != told[0] for one in told[1:]):
            differ.append(name)
    notes = [f"The runs' environments differ: {', '.join(differ)}."] if differ else []
    if any((case.main_latency.min or 0.0) <= 0 for d in documents for case in _whole_cases(d)):
        notes.append("Latencies at or below zero have no place on a log axis.")
    left_out = sum(len(document.cases) - len(_whole_cases(document)) for document in documents)
    if left_out:
        notes.append(f"{plural(left_out, 'case')} without latency: not in the plot.")
    faulty = [
        case.case for document in documents for case in _whole_cases(document) if case.status is not State.OK
    ]
    if faulty:
        notes.append(f"Not all went well in case {', '.join(faulty)}.")
    return notes
