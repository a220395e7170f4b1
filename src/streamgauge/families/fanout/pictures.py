"""The plots of a fan-out as SVG and PNG, drawn without a browser."""

from __future__ import annotations

import io

from streamgauge.families.fanout.document import Point
from streamgauge.families.fanout.figures import PLOTS, lines_of


def fanout_pictures(points: list[Point]) -> dict[str, bytes]:
    """File name → content."""
    # Drawing is for those who ask for it: the library takes a second to load.
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    made: dict[str, bytes] = {}
    # Without a date and random ids the same data give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "streamgauge", "font.size": 10}):
        for name, title, unit, value in PLOTS:
            lines = lines_of(points, value)
            if not lines:
                continue
            figure = Figure(figsize=(7.5, 4.8), layout="constrained")
            axes = figure.subplots()
            for series, (xs, ys) in lines.items():
                axes.plot(xs, ys, marker="o", label=series)
            axes.set(xscale="log", yscale="log", xlabel="clients", ylabel=unit, title=title)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(EngFormatter(sep=""))
            axes.legend()
            axes.grid(alpha=0.3)
            for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
                content = io.BytesIO()
                figure.savefig(content, format=ending, dpi=120, metadata=metadata)
                made[f"{name}-by-clients.{ending}"] = content.getvalue()
    return made
