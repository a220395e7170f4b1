"""A fan-out second by second: latency, and what every role used, of each point that was run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamgauge.core.fault_figures import FaultFigures
from streamgauge.families.fanout.document import Point
from streamgauge.families.fanout.point_names import place_name
from streamgauge.families.fanout.result_tables import POINT_SECONDS, WATCHED
from streamgauge.report.fault_show import fault_bands
from streamgauge.report.medium import ON_PAGE
from streamgauge.report.plot_parts import Axis, Band, NumberText, Plot, Series, Style, line_style, short
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.shown import Figures, Link, Note, Section
from streamgauge.report.shown_tables import Column, Table, Unit, Value, row

_LATENCIES = {"p50": Style(0, 2.5), "p99": Style(1, 1.75), "max": Style(5, 1.25, "dotted")}
_MIB = 2**20
_ROWS_AT_MOST = 1000
"""Of the tables of all points together: hours of seconds are a page of megabytes."""
_ELSEWHERE = Note("Every second of it is in", links=[Link("point_seconds.csv", "csv/point_seconds.csv")])


def second_sections(points: list[Point], tables: ResultTables) -> Iterator[Section]:
    """For the page, where they can be folded; elsewhere `csv/point_seconds.csv` has them."""
    rows_left = _ROWS_AT_MOST
    for point in points:
        seconds = sorted(tables.rows(POINT_SECONDS, point.case), key=lambda second: int(second["second"]))
        if seconds:
            rows_left -= len(seconds)
            yield Section(
                f"By second: {place_name(point)}",
                [
                    Figures(second_plots(seconds, point.faults)),
                    second_table(seconds) if rows_left >= 0 else _ELSEWHERE,
                ],
                is_open=False,
                where=ON_PAGE,
            )


def second_plots(seconds: list[Row], faults: Sequence[FaultFigures] = ()) -> list[Plot]:
    roles = _seen(seconds)
    latency = [_line(seconds, f"{name}_ms", name, style, "ms") for name, style in _LATENCIES.items()]
    styles = {role: line_style(number, 1.75) for number, role in enumerate(roles)}
    cpu = [_line(seconds, f"{role}_cpu_cores", role, styles[role], "cores") for role in roles]
    # Memory of the machine would flatten the lines of the processes.
    memory = [
        _line(seconds, f"{role}_memory_bytes", role, styles[role], "MiB", _MIB)
        for role in roles
        if role != "machine"
    ]
    drawn = {
        "Latency over time, from when a message was due": (latency, "ms"),
        "CPU over time, cores kept busy": (cpu, "cores"),
        "Memory over time": (memory, "MiB"),
    }
    across = Axis("seconds since the first message", from_zero=True)
    bands = [*_warm_up(seconds), *fault_bands(faults, seconds[-1]["second"] + 1)]
    return [
        Plot(title, lines, across, Axis(unit, from_zero=True), reading="across", bands=bands)
        for title, (lines, unit) in drawn.items()
        if lines
    ]


def second_table(seconds: list[Row]) -> Table:
    roles = _seen(seconds)
    rows = []
    for second in seconds:
        busy: list[Value] = [second[f"{role}_cpu_cores"] for role in roles]
        latency: list[Value] = [second[f"{name}_ms"] for name in _LATENCIES]
        rows.append(row(second["second"], second["samples"], *latency, *busy))
    columns = [
        Column("second", Unit.COUNT),
        Column("samples", Unit.COUNT),
        *(Column(name, Unit.MS) for name in _LATENCIES),
        *(Column(role, Unit.NUMBER) for role in roles),
    ]
    note = "Latency of the messages that were due in that second; cores kept busy by each role."
    return Table("Second by second", columns, rows, note)


def _seen(seconds: list[Row]) -> list[str]:
    return [role for role in WATCHED if any(second[f"{role}_cpu_cores"] is not None for second in seconds)]


def _line(
    seconds: list[Row], column: str, name: str, style: Style, unit: str, divisor: float = 1.0
) -> Series:
    """A second without a value is a gap."""
    values = [second[column] for second in seconds]
    return Series(
        name,
        [second["second"] for second in seconds],
        [None if value is None else short(value / divisor) for value in values],
        style,
        "line" if len(values) > 1 else "points",
        NumberText("up to", 3, unit),
    )


def _warm_up(seconds: list[Row]) -> list[Band]:
    warm = [second["second"] for second in seconds if second["is_warm_up"]]
    return [Band("warm-up", min(warm), max(warm) + 1)] if warm else []
