"""Plots over the time of a case: latency, schedule lag, throughput and resources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from streamgauge.report.case_document import BriefStatistics, Case, Second
from streamgauge.report.fault_show import fault_bands
from streamgauge.report.plot_parts import (
    Axis,
    Band,
    NumberText,
    Plot,
    Series,
    Style,
    axis_note,
    line_style,
    short,
    value_axis,
)
from streamgauge.report.result_tables import Row
from streamgauge.report.words import LEG_NAMES


def latency_figure(case: Case) -> Plot | None:
    leg = case.main_leg
    title = f"Latency over time, {LEG_NAMES[leg]}"
    return _per_second(case, title, lambda second: getattr(second.latency_ms, leg))


def schedule_lag_figure(case: Case) -> Plot | None:
    return _per_second(case, "Schedule lag over time, sent − intended", lambda second: second.schedule_lag_ms)


def throughput_figure(case: Case) -> Plot | None:
    lines = [
        _time_line(
            case.seconds,
            name,
            lambda second, name=name: getattr(second.throughput, f"{name}_messages_per_s"),
            line_style(number, 2),
        )
        for number, name in enumerate(("sent", "acked", "received"))
    ]
    return _time_plot("Throughput over time", _known(lines), "messages/s", case)


def cpu_figure(case: Case, resources: list[Row]) -> Plot | None:
    lines = _source_lines(resources, lambda row: row["cpu_cores"], NumberText("exactly", 2, "cores"))
    return _time_plot("CPU, cores kept busy", lines, "cores", case)


def memory_figure(case: Case, resources: list[Row]) -> Plot | None:
    # Memory of the machine would flatten the lines of the processes.
    processes = [row for row in resources if row["kind"] != "machine"]
    told = NumberText("exactly", 0, "MiB")
    lines = _source_lines(processes, lambda row: row["rss_bytes"] / 2**20, told)
    return _time_plot("Memory of the processes", lines, "MiB", case)


def traffic_figure(case: Case, resources: list[Row]) -> Plot | None:
    """Network and disk of the machines."""
    lines: list[Series] = []
    machines = [row for row in resources if row["kind"] == "machine"]
    for name in ("net_sent", "net_received", "disk_read", "disk_written"):
        column = f"{name}_bytes_per_s"
        known = [row for row in machines if row[column] is not None]
        label = name.replace("net", "network").replace("_", " ")
        lines += _source_lines(
            known,
            lambda row, column=column: row[column] / 2**20,
            NumberText("exactly", 2, "MiB/s"),
            label=label,
            first=len(lines),
        )
    return _time_plot("Network and disk of the machine", lines, "MiB/s", case)


def _per_second(case: Case, title: str, of: Callable[[Second], BriefStatistics]) -> Plot | None:
    styles = {"p50": Style(0, 2.5), "p99": Style(1, 1.75), "max": Style(5, 1.25, "dotted")}
    lines = [
        _time_line(case.seconds, name, lambda second, name=name: getattr(of(second), name), style)
        for name, style in styles.items()
    ]
    return _time_plot(title, _known(lines), "ms", case)


def _known(lines: list[Series]) -> list[Series]:
    return [line for line in lines if any(value is not None for value in line.y)]


def _time_line(seconds: list[Second], name: str, value: Callable[..., float | None], style: Style) -> Series:
    """A second without a value is a gap, not a bridge."""
    known = {second.second: value(second) for second in seconds}
    span = range(min(known), max(known) + 1) if known else range(0)
    values = [known.get(second) for second in span]
    alone = sum(value is not None for value in values) < 2
    return Series(
        name,
        list(span),
        [None if value is None else short(value) for value in values],
        style,
        "line and points" if alone else "line",
        NumberText("up to", 3),
    )


def _source_lines(
    resources: Iterable[Row],
    value: Callable[..., float],
    told: NumberText,
    *,
    label: str | None = None,
    first: int = 0,
) -> list[Series]:
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in resources:
        by_source[row["source"]].append(row)
    several = len(by_source) > 1
    lines = []
    for number, (source, rows) in enumerate(sorted(by_source.items()), first):
        rows.sort(key=lambda row: float(row["at_s"]))
        lines.append(
            Series(
                source if label is None else f"{source} {label}" if several else label,
                [round(row["at_s"], 2) for row in rows],
                [short(value(row)) for row in rows],
                line_style(number, 1.75),
                "line" if len(rows) > 1 else "points",
                told,
            )
        )
    return lines


def _time_plot(title: str, lines: list[Series], unit: str, case: Case) -> Plot | None:
    if not lines:
        return None
    axis = value_axis(lines, unit) if unit == "ms" else Axis(unit, from_zero=True)
    return Plot(
        title,
        lines,
        Axis("seconds since the start", from_zero=True),
        axis,
        reading="across",
        bands=[*_warm_up(case), *fault_bands(case.faults, _end_s(case))],
        note=axis_note(lines, axis),
    )


def _end_s(case: Case) -> float:
    return 1.0 + max((second.second for second in case.seconds), default=0)


def _warm_up(case: Case) -> list[Band]:
    """Warm-up is cut from the figures, and the cut is shown."""
    warm = [second.second for second in case.seconds if second.warm_up]
    if not warm:
        return []
    end = max(warm)
    # A second that holds both belongs to the measured part, where it has a point.
    measured = any(second.second == end and second.accounting.sent for second in case.seconds)
    return [Band("warm-up", min(warm), end if measured and end > min(warm) else end + 1)]
