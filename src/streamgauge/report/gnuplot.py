"""What a knob does, for Gnuplot: its data as columns, and the script that plots them."""

from __future__ import annotations

import math

from streamgauge.report.knob_points import KnobPlot, Panel

_COLUMNS = ("min_ms", "mean_ms", "max_ms", "kib_per_s", "messages_per_s")
_BOXES = (("Min Lat", 3), ("Avg Lat", 4), ("Max Lat", 5))
_LINES = (("KiB/s", 6), ("Msg/s", 7))
_GROUP_WIDTH = 0.8


def gnuplot_data(plot: KnobPlot) -> str:
    """One block a panel and series, with two empty lines between, as `index` takes them."""
    blocks = []
    for panel in plot.panels:
        for series in plot.series:
            lines = [f"# {panel.title or 'all'} · {series}", f'# place "{plot.knob}" {" ".join(_COLUMNS)}']
            for place, value in enumerate(plot.values):
                point = panel.points.get(series, {}).get(value)
                figures = [getattr(point, name, None) for name in _COLUMNS]
                cells = ["?" if figure is None else f"{figure:.6g}" for figure in figures]
                lines.append(f'{place} "{_quoted(plot.label(value))}" {" ".join(cells)}')
            blocks.append("\n".join(lines))
    return "\n\n\n".join(blocks) + "\n"


def gnuplot_script(plot: KnobPlot, data_name: str, picture_name: str) -> str:
    """Boxes on a log axis, lines on a second axis; the picture is an SVG."""
    columns = min(2, len(plot.panels))
    rows = math.ceil(len(plot.panels) / columns)
    labels = [f"'{_single(plot.label(value))}' {place}" for place, value in enumerate(plot.values)]
    lines = [
        f"# gnuplot {data_name.removesuffix('.dat')}.gp",
        f"set terminal svg size {800 * columns},{520 * rows} font ',12'",
        f"set output '{_single(picture_name)}'",
        # An underscore in a name is an underscore.
        "set termoption noenhanced",
        "set datafile missing '?'",
        "set style fill solid 0.8 border -1",
        "set boxwidth 0.9 relative" if len(plot.values) == 1 else f"set boxwidth {_box_width(plot):.4f}",
        "set logscale y",
        f"set xrange [-0.6:{len(plot.values) - 0.4}]",
        f"set xtics ({', '.join(labels)})",
        f"set xlabel '{_single(plot.knob)}'",
        "set ylabel 'Milliseconds'",
        "set key outside below",
        f"set multiplot layout {rows},{columns}",
    ]
    rates = [column for _, column in _LINES]
    if any(_has(panel, series, rate) for panel in plot.panels for series in panel.points for rate in rates):
        lines[-1:-1] = ["set ytics nomirror", "set logscale y2", "set y2tics", "set y2label 'KiB/s, Msg/s'"]
    for number, panel in enumerate(plot.panels):
        lines += _panel(plot, panel, number, data_name)
    return "\n".join([*lines, "unset multiplot", "unset output", ""])


def _panel(plot: KnobPlot, panel: Panel, number: int, data_name: str) -> list[str]:
    count, width = len(plot.series), _box_width(plot)
    curves = []
    # A block without a single figure is there, but Gnuplot would complain about it.
    there = [(place, series) for place, series in enumerate(plot.series) if panel.points.get(series)]
    for statistic, (name, column) in enumerate(_BOXES):
        for place, series in there:
            shift = (statistic * count + place - (3 * count - 1) / 2) * width
            curves.append(
                f"'{_single(data_name)}' index {number * count + place} using ($1{shift:+.4f}):{column}"
                f" with boxes title '{_single(f'{name} {series}')}'"
            )
    for name, column in _LINES:
        for place, series in there:
            if _has(panel, series, column):
                curves.append(
                    f"'{_single(data_name)}' index {number * count + place} using 1:{column}"
                    f" with linespoints lw 3 axes x1y2 title '{_single(f'{name} {series}')}'"
                )
    return [f"set title '{_single(panel.title)}'", "plot \\\n  " + ", \\\n  ".join(curves)]


def _has(panel: Panel, series: str, column: int) -> bool:
    field = _COLUMNS[column - 3]
    return any(getattr(point, field) is not None for point in panel.points[series].values())


def _box_width(plot: KnobPlot) -> float:
    return _GROUP_WIDTH / (3 * len(plot.series))


def _single(text: str) -> str:
    """In single quotes Gnuplot knows no escape but a doubled quote."""
    return text.replace("'", "''").replace("\n", " ")


def _quoted(text: str) -> str:
    return text.replace('"', "'").replace("\n", " ")
