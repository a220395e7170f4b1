"""Plots of a fan-out: latency, bandwidth, and what a client costs, by the number of clients."""

from __future__ import annotations

from collections.abc import Callable

from streamgauge.families.fanout.document import Point
from streamgauge.report.plot_parts import line_style, plain, short
from streamgauge.report.shown import Figure

Value = Callable[[Point], float | None]


def _per_client(what: str, scale: float) -> Value:
    """Of what delivers: the broker, and the gateway where there is one."""

    def value(point: Point) -> float | None:
        known = [getattr(use, what) for use in (point.use.broker, point.use.gateway)]
        found = [number for number in known if number is not None]
        return scale * sum(found) / point.clients if found else None

    return value


PLOTS: tuple[tuple[str, str, str, Value], ...] = (
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


def lines_of(points: list[Point], value: Value) -> dict[str, tuple[list[int], list[float]]]:
    """By series: clients and values of the points that held and have one."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for point in points:
        number = value(point) if point.holds else None
        if number is not None and number > 0:
            xs, ys = found.setdefault(point.series, ([], []))
            xs.append(point.clients)
            ys.append(number)
    return found


def fanout_figures(points: list[Point]) -> list[Figure]:
    figures = []
    for _, title, unit, value in PLOTS:
        lines = lines_of(points, value)
        if not lines:
            continue
        data = [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(series),
                "x": xs,
                "y": [short(y) for y in ys],
                "line": line_style(number, 2),
                "hovertemplate": "%{x:,} clients: %{y:,.4~g} " + unit,
            }
            for number, (series, (xs, ys)) in enumerate(lines.items())
        ]
        layout = {
            "xaxis": {"title": {"text": "clients"}, "type": "log"},
            "yaxis": {"title": {"text": unit}, "type": "log"},
            "hovermode": "closest",
        }
        figures.append(Figure(title, data, layout))
    return figures
