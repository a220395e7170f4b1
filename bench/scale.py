"""`python -m bench scale`: how analysis, launch, runs of many cases and the file server grow, with the error.

Every figure goes into a file as soon as it is there (`--figures`), so that parts can be measured one after
another, and `--draw` makes the picture of docs/scale.md of what has been measured.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.analysis_cost import PeakMemory, made_up_run, seconds
from bench.analysis_workers import seconds_on_workers
from bench.growth import growth_of, line_of
from bench.scale_cases import seconds_of_cases
from bench.scale_launch import fits, launch_figures
from bench.scale_plot import PICTURE, by_spark, draw
from bench.scale_server import requests_per_s, server_mb_per_s
from streamgauge.launch.shared_secret import SECRET_VARIABLE
from streamgauge.launch.spark_session import spark_session

FIGURES = Path(__file__).parent / "scale_figures.json"
_ON_SPARK = (25_000_000, 30_000_000, 40_000_000, 50_000_000, 70_000_000, 100_000_000)
"""A line goes through them: three points would leave a billion anywhere."""
SIZES: dict[str, tuple[int, ...]] = {
    "analysis": (1_000_000, 3_000_000, 10_000_000, *_ON_SPARK),
    "packed": (3_000_000, 10_000_000, *_ON_SPARK),
    "threshold": (1_500_000, 1_900_000, 2_100_000, 2_500_000, 19_000_000, 21_000_000),
    "producers": (1, 16, 24, 25, 32, 64),
    "workers": (1, 2, 4),
    "launch": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "cases": (100, 300, 1000, 3000, 10_000),
    "server": (1, 2, 4, 8, 16),
}
"""Messages; messages of many producers; messages around those from which on threads, and then Spark, take
over; producers; processes on this machine; agents; cases; hosts."""
MINUTES = {
    "analysis": 7,
    "packed": 12,
    "threshold": 3,
    "producers": 3,
    "workers": 3,
    "launch": 4,
    "cases": 1,
    "server": 2,
}
"""About so many on two quiet cores, reckoned from what was measured of each."""
_EVEN = {"threshold": 1.5, "producers": math.inf}
"""Where a message is to cost the same at all sizes: what is told of them is the largest step from one size to
another, up to so many times as large."""
_RECKONED = 1_000_000_000
_PRODUCERS = 64
"""More than slices have room for, so that their events are put in order first."""
_OF_PRODUCERS = 3_000_000
_ON_WORKERS = 20_000_000
_LAST = 4
"""So many of the largest sizes have an exponent of their own, where there are half as many others."""

Figures = dict[str, dict[str, dict[str, float]]]
"""By part, and by size."""


def scale(
    folder: Path, parts: Sequence[str], sizes: Sequence[int], figures_file: Path, *, is_drawn: bool
) -> None:
    """`sizes`: of these only, if any are given; `parts`: all if none is."""
    for part in parts or () if is_drawn else parts or tuple(SIZES):
        mib_an_agent = 0.0
        for size in sizes or SIZES[part]:
            if part == "launch" and not fits(size, mib_an_agent):
                print(f"launch {size:>13,}: does not fit, at {mib_an_agent:.0f} MiB an agent", flush=True)
                break
            found = _MEASURE[part](folder, size)
            mib_an_agent = found.get("memory_mib", 0.0) / size
            _keep(figures_file, part, size, found)
            said = ", ".join(f"{name} {value:,.3g}" for name, value in found.items())
            print(f"{part} {size:>13,}: {said}", flush=True)
    figures = _read(figures_file)
    for line in growth_lines(figures):
        print(line, flush=True)
    if is_drawn:
        PICTURE.write_text(draw(figures))
        print(f"drawn: {PICTURE}", flush=True)


def growth_lines(figures: Figures) -> list[str]:
    lines = []
    for part, by_size in figures.items():
        if part in _EVEN:
            lines.append(_largest_step(part, by_size))
            continue
        names = next(iter(by_size.values()))
        for name in names:
            points = [(float(size), found[name]) for size, found in by_size.items() if found[name] > 0]
            if len({x for x, _ in points}) < 2:
                continue
            growth = growth_of(points)
            line = f"{f'{part}: {name} grows as':<40} {growth.text()}"
            if len(points) >= 3 * _LAST / 2:
                line += f"; the last {_LAST} as {growth_of(points[-_LAST:]).text()}"
            if part in ("analysis", "packed") and name == "seconds":
                line += _reckoned(points)
            lines.append(line)
    return lines


def _reckoned(points: Sequence[tuple[float, float]]) -> str:
    """By sizes that all go one way: it costs something to begin, and then every message the same."""
    spread = by_spark(points)
    if len(spread) < 2:
        return ""
    line = line_of(spread)
    middle, low, high = line.at(_RECKONED)
    return (
        f"; {line.start:.1f} s + {line.slope * 1e6:.2f} µs a message from {spread[0][0]:,.0f} on, so "
        f"{_RECKONED:,} would take {middle:,.0f} s ({low:,.0f}–{high:,.0f})"
    )


def _largest_step(part: str, by_size: dict[str, dict[str, float]]) -> str:
    """No cliff: from one size to the next a message costs about the same."""
    costs = [(int(size), found["us_a_message"]) for size, found in by_size.items()]
    steps = [
        (after / before, size)
        for (smaller, before), (size, after) in itertools.pairwise(costs)
        if size <= _EVEN[part] * smaller
    ]
    ratio, size = max(steps, key=lambda step: abs(math.log(step[0])), default=(1.0, 0))
    return f"{f'{part}: µs a message, the largest step':<40} {ratio:.2f}×, at {size:,}"


def _analysis(folder: Path, size: int, producers: int = 1) -> dict[str, float]:
    with spark_session("local[*]", log=folder / "spark.log") as session:
        # The first large run of a session compiles.
        warm_up = made_up_run(str(folder), 3_000_000, producers)
        seconds(session, warm_up)
        shutil.rmtree(warm_up.location)
        run = made_up_run(str(folder), size, producers)
        try:
            with PeakMemory(session) as peak:
                took_s = seconds(session, run)
        finally:
            shutil.rmtree(run.location)
    return {
        "seconds": took_s,
        "us_a_message": took_s / size * 1e6,
        "python_mib": peak.own_bytes / 2**20,
        "driver_mib": peak.driver_bytes / 2**20,
        "all_mib": peak.all_bytes / 2**20,
    }


def _workers(folder: Path, workers: int) -> dict[str, float]:
    os.environ.pop(SECRET_VARIABLE, None)
    run, warm_up = (
        made_up_run(f"file://{folder}/{name}", messages)
        for name, messages in (("shared", _ON_WORKERS), ("warm-up", 5_000_000))
    )
    try:
        took_s = seconds_on_workers(folder, run, warm_up, workers, os.environ)
    finally:
        for name in ("shared", "warm-up"):
            shutil.rmtree(folder / name)
    return {"seconds": took_s, "messages_per_s": _ON_WORKERS / took_s}


def _server(folder: Path, hosts: int) -> dict[str, float]:
    return {"mb_per_s": server_mb_per_s(folder, hosts), "requests_per_s": requests_per_s(folder, hosts)}


_MEASURE: dict[str, Callable[[Path, int], dict[str, float]]] = {
    "analysis": _analysis,
    "packed": lambda folder, size: _analysis(folder, size, _PRODUCERS),
    "threshold": _analysis,
    "producers": lambda folder, producers: _analysis(folder, _OF_PRODUCERS, producers),
    "workers": _workers,
    "launch": launch_figures,
    "cases": seconds_of_cases,
    "server": _server,
}


def _read(file: Path) -> Figures:
    return json.loads(file.read_text()) if file.exists() else {}


def _keep(file: Path, part: str, size: int, found: dict[str, float]) -> None:
    figures = _read(file)
    own = {**figures.get(part, {}), str(size): {name: float(f"{value:.4g}") for name, value in found.items()}}
    figures[part] = {size: own[size] for size in sorted(own, key=int)}
    file.write_text(json.dumps(figures, indent=1) + "\n")
