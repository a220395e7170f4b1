"""Plots of a fan-out: latency, bandwidth, and what a client costs, by the number of clients."""

from __future__ import annotations

from collections.abc import Callable

from streamgauge.families.fanout.document import Point
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, line_style, short

Value = Callable[[Point], float | None]


def _per_client(what: str, scale: float) -> Value:
    """Of all that delivers; of a part of it there is nothing to say."""

    def value(point: Point) -> float | None:
        used = [getattr(use, what) for use in point.delivering]
        return None if None in used else scale * sum(used) / point.clients

    return value


_PLOTS: tuple[tuple[str, str, str, Value], ...] = (
    ("latency", "Mean latency by clients", "ms", lambda point: point.latency_ms.mean),
    ("latency-p99", "99th percentile by clients", "ms", lambda point: point.latency_ms.p99),
    ("bandwidth", "To clients, by clients", "bit/s", lambda point: point.wire.to_clients_bits_per_s),
    ("cpu", "CPU of broker and gateway for each client", "µs a second", _per_client("cpu_cores", 1e6)),
    (
        "memory",
        "Memory of broker and gateway for each client",
        "KiB",
        _per_client("memory_bytes", 1 / 1024),
    ),
)
"""Name, title, unit, and the value of a point."""


def fanout_plots(points: list[Point]) -> dict[str, Plot]:
    """By name, those that have something to show."""
    found = {}
    for name, title, unit, value in _PLOTS:
        series = [
            Series(
                of,
                [clients for clients, _ in values],
                [short(y) for _, y in values],
                line_style(number, 2),
                "line and points",
                NumberText("figures", 4, unit),
                [f"{clients:,} clients" for clients, _ in values],
            )
            for number, (of, values) in enumerate(_held(points, value).items())
        ]
        if series:
            found[name] = Plot(title, series, Axis("clients", "log"), Axis(unit, "log"))
    return found


def _held(points: list[Point], value: Value) -> dict[str, list[tuple[int, float]]]:
    """By series: clients and value of the points that held and have one."""
    found: dict[str, list[tuple[int, float]]] = {}
    for point in points:
        number = value(point) if point.holds else None
        if number is not None and number > 0:
            found.setdefault(point.series, []).append((point.clients, number))
    return found
