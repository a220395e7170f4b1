"""Plots over the time of a case: latency, schedule lag, throughput and resources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from streamgauge.report.case_document import BriefStatistics, Case, Second
from streamgauge.report.plot_parts import Trace, axis_note, line_style, plain, short, value_axis
from streamgauge.report.result_tables import Row
from streamgauge.report.shown import Figure
from streamgauge.report.words import LEG_NAMES


def latency_figure(case: Case) -> Figure | None:
    leg = case.main_leg
    title = f"Latency over time, {LEG_NAMES[leg]}"
    return _per_second(case, title, lambda second: getattr(second.latency_ms, leg))


def schedule_lag_figure(case: Case) -> Figure | None:
    return _per_second(case, "Schedule lag over time, sent − intended", lambda second: second.schedule_lag_ms)


def throughput_figure(case: Case) -> Figure | None:
    seconds = case.seconds
    lines = [
        _time_line(seconds, name, lambda second, key=key: getattr(second.throughput, key))
        | {"line": line_style(number, 2)}
        for number, (name, key) in enumerate(
            (name, f"{name}_messages_per_s") for name in ("sent", "acked", "received")
        )
    ]
    lines = [line for line in lines if any(value is not None for value in line["y"])]
    return _time_plot("Throughput over time", lines, "messages/s", case)


def cpu_figure(case: Case, resources: list[Row]) -> Figure | None:
    lines = _source_lines(resources, lambda row: row["cpu_cores"], ".2f", "cores")
    return _time_plot("CPU, cores kept busy", lines, "cores", case)


def memory_figure(case: Case, resources: list[Row]) -> Figure | None:
    # Memory of the machine would flatten the lines of the processes.
    processes = [row for row in resources if row["kind"] != "machine"]
    lines = _source_lines(processes, lambda row: row["rss_bytes"] / 2**20, ".0f", "MiB")
    return _time_plot("Memory of the processes", lines, "MiB", case)


def traffic_figure(case: Case, resources: list[Row]) -> Figure | None:
    """Network and disk of the machines."""
    lines: list[Trace] = []
    machines = [row for row in resources if row["kind"] == "machine"]
    for name in ("net_sent", "net_received", "disk_read", "disk_written"):
        column = f"{name}_bytes_per_s"
        known = [row for row in machines if row[column] is not None]
        label = name.replace("net", "network").replace("_", " ")
        lines += _source_lines(
            known,
            lambda row, column=column: row[column] / 2**20,
            ".2f",
            "MiB/s",
            label=label,
            first=len(lines),
        )
    return _time_plot("Network and disk of the machine", lines, "MiB/s", case)


def _per_second(case: Case, title: str, of: Callable[[Second], BriefStatistics]) -> Figure | None:
    styles = {
        "p50": {"color": "var(--line-1)", "width": 2.5},
        "p99": {"color": "var(--line-2)", "width": 1.75},
        "max": {"color": "var(--line-6)", "width": 1.25, "dash": "dot"},
    }
    lines = [
        _time_line(case.seconds, name, lambda second, name=name: getattr(of(second), name)) | {"line": line}
        for name, line in styles.items()
    ]
    return _time_plot(title, [line for line in lines if any(y is not None for y in line["y"])], "ms", case)


def _time_line(seconds: list[Second], name: str, value: Callable[..., float | None]) -> Trace:
    """A second without a value is a gap, not a bridge."""
    known = {second.second: value(second) for second in seconds}
    span = range(min(known), max(known) + 1) if known else range(0)
    values = [known.get(second) for second in span]
    alone = sum(value is not None for value in values) < 2
    return {
        "type": "scatter",
        "mode": "lines+markers" if alone else "lines",
        "name": name,
        "x": list(span),
        "y": [None if value is None else short(value) for value in values],
        "hovertemplate": "%{y:,.3~f}",
    }


def _source_lines(
    resources: Iterable[Row],
    value: Callable[..., float],
    digits: str,
    unit: str,
    *,
    label: str | None = None,
    first: int = 0,
) -> list[Trace]:
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in resources:
        by_source[row["source"]].append(row)
    several = len(by_source) > 1
    lines = []
    for number, (source, rows) in enumerate(sorted(by_source.items()), first):
        rows.sort(key=lambda row: float(row["at_s"]))
        lines.append(
            {
                "type": "scatter",
                "mode": "lines" if len(rows) > 1 else "markers",
                "name": plain(source if label is None else f"{source} {label}" if several else label),
                "x": [round(row["at_s"], 2) for row in rows],
                "y": [short(value(row)) for row in rows],
                "line": line_style(number, 1.75),
                "hovertemplate": f"%{{y:,{digits}}} {unit}",
            }
        )
    return lines


def _time_plot(title: str, lines: list[Trace], unit: str, case: Case) -> Figure | None:
    if not lines:
        return None
    times = unit == "ms"
    axis = value_axis(lines, unit) if times else {"title": {"text": unit}, "rangemode": "tozero"}
    layout: Trace = {
        "xaxis": {"title": {"text": "seconds since the start"}, "rangemode": "tozero"},
        "yaxis": axis,
        "hovermode": "x unified",
        **_warm_up_shade(case),
    }
    return Figure(title, lines, layout, axis_note(lines, axis))


def _warm_up_shade(case: Case) -> Trace:
    """Warm-up is cut from the figures, and the cut is shown."""
    warm = [second.second for second in case.seconds if second.warm_up]
    if not warm:
        return {}
    end = max(warm)
    # A second that holds both belongs to the measured part, where it has a point.
    measured = any(second.second == end and second.accounting.sent for second in case.seconds)
    band = {"type": "rect", "xref": "x", "yref": "paper", "x0": min(warm), "y0": 0, "y1": 1}
    band |= {"x1": end if measured and end > min(warm) else end + 1, "layer": "below", "line": {"width": 0}}
    label = {"xref": "x", "yref": "paper", "x": min(warm), "y": 1, "xanchor": "left", "yanchor": "top"}
    return {
        "shapes": [band | {"fillcolor": "var(--shade)"}],
        "annotations": [label | {"text": "warm-up", "showarrow": False, "font": {"color": "var(--muted)"}}],
    }
