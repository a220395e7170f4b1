"""`make bench`: how good is the instrument itself? Ratios from one run; run nothing else meanwhile."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.aeron import AeronBench
from bench.analysis_against import analysis_against
from bench.analysis_cost import analysis_bench, made_up_run
from bench.analysis_workers import seconds_on_workers
from bench.crowds import crowds
from bench.delays import DelayBench
from bench.demo import DEMOS, demos
from bench.fanout import Fanout
from bench.from_start import from_start
from bench.jni import CrossingBench
from bench.rates import RateBench
from bench.ratio import PAIRS
from bench.readers import readers
from bench.scale import FIGURES, MINUTES, SIZES, scale
from bench.sizes import sizes
from bench.start_up import start_up
from bench.verdicts import TRIALS, verdicts
from bench.viewers import viewers
from streamgauge.launch.shared_secret import SECRET_VARIABLE
from streamgauge.systems.kafka_cluster import KafkaCluster

PARTS = (
    "produce",
    "consume",
    "latency",
    "schedule",
    "jni",
    "startup",
    "start",
    "demo",
    "aeron",
    "analysis",
    "verdicts",
    "serve",
    "fanout",
    "saturated",
    "stalled",
    "crowds",
    "readers",
)
RATED = {100: 20_000_000, 1024: 5_000_000}
"""Messages by size, where rates are measured: so many that recording is inside. 20M of 1 KiB would not fit
beside the broker's pages into the memory of a small machine."""
ANALYSED = (1_000_000, 10_000_000, 50_000_000)
"""Messages of the runs that are analysed."""
_FANOUT = {"fanout", "saturated", "stalled"}
_WITHOUT_KAFKA = {
    "start",
    "demo",
    "aeron",
    "analysis",
    "verdicts",
    "serve",
    "crowds",
    "readers",
    "size",
    "scale",
} | _FANOUT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"which of {', '.join(PARTS)}, size, scale")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs to measure, beside the first")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of messages")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=list(RATED),
        choices=list(RATED),
        help="produce, consume: bytes of a message",
    )
    parser.add_argument(
        "--against", type=Path, help="analysis, start: another checkout, to be compared with this one"
    )
    parser.add_argument("--costs", type=Path, help="size: a file for measured costs, kept between runs")
    taking = ", ".join(f"{part} {minutes}" for part, minutes in MINUTES.items())
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        choices=list(SIZES),
        help=f"scale: these curves; about so many minutes on two quiet cores: {taking}",
    )
    parser.add_argument("--at", type=int, nargs="*", default=[], help="scale: these sizes of a curve")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="scale: where figures are kept")
    parser.add_argument("--draw", action="store_true", help="scale: the picture of docs/scale.md, too")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start", flush=True)
    with tempfile.TemporaryDirectory(prefix="streamgauge-bench-") as name:
        folder = Path(name)
        if set(arguments.parts) - _WITHOUT_KAFKA:
            with KafkaCluster(brokers=1, log_dir=folder / "kafka") as cluster:
                place = (cluster.endpoints()["bootstrap"], folder, arguments.pairs)
                _rates(RateBench(*place), arguments.parts, arguments.scale, arguments.sizes)
                _delays(DelayBench(*place), arguments.parts, arguments.scale)
                if "jni" in arguments.parts:
                    messages = int(50_000 * arguments.scale)
                    _crossings(CrossingBench(cluster.endpoints()["bootstrap"], messages, arguments.pairs))
                if "startup" in arguments.parts:
                    cost = start_up(cluster.endpoints()["bootstrap"], folder, arguments.scale)
                    print(cost.line(), flush=True)
        _first_minutes(folder, arguments)
        if "aeron" in arguments.parts:
            AeronBench(folder, arguments.pairs, max(2, int(10 * arguments.scale))).run()
        if "analysis" in arguments.parts and arguments.against is not None:
            sizes = [int(size * arguments.scale) for size in ANALYSED]
            analysis_against(arguments.against, folder, sizes, arguments.pairs)
        elif "analysis" in arguments.parts:
            _analysis(folder, arguments.scale, arguments.pairs)
        if "verdicts" in arguments.parts:
            verdicts(max(2, int(TRIALS * arguments.scale)))
        if "serve" in arguments.parts:
            viewers(folder, arguments.scale)
        if "crowds" in arguments.parts:
            crowds(folder, arguments.pairs, arguments.scale)
        if "readers" in arguments.parts:
            readers(folder, arguments.pairs, arguments.scale)
        if _FANOUT & set(arguments.parts):
            _fanout(Fanout(folder, arguments.pairs, arguments.scale), arguments.parts)
        _size(folder, arguments)


def _size(folder: Path, arguments: argparse.Namespace) -> None:
    if "size" in arguments.parts:
        sizes(folder, arguments.costs)
    if "scale" in arguments.parts:
        scale(folder, arguments.only, arguments.at, arguments.figures, is_drawn=arguments.draw)


def _first_minutes(folder: Path, arguments: argparse.Namespace) -> None:
    if "start" in arguments.parts:
        from_start(folder, arguments.pairs, arguments.against)
    if "demo" in arguments.parts:
        demos(folder, max(1, int(DEMOS * arguments.scale)))


def _rates(bench: RateBench, parts: list[str], scale: float, sizes: list[int]) -> None:
    if scale < 1 and {"produce", "consume"} & set(parts):
        # Java's tool is compiled to the end only after some ten million.
        print("fewer messages than usual: rates that favour us, and may not be quoted", flush=True)
    for size in sizes if "produce" in parts else ():
        _say(bench.produce(size, int(RATED[size] * scale)))
    for size in sizes if "consume" in parts else ():
        _say(bench.consume(size, int(RATED[size] * scale)))


def _delays(bench: DelayBench, parts: list[str], scale: float) -> None:
    if "latency" in parts:
        _say(bench.latency(1000, max(2, int(10 * scale))))
    if "schedule" in parts:
        for rate in (1000, 10_000, 50_000):
            for linger_ms in (0, 5):
                _say(bench.schedule(rate, max(2, int(5 * scale)), linger_ms))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _crossings(bench: CrossingBench) -> None:
    print(bench.produce().line("msg/s"), flush=True)
    print(bench.consume().line("msg/s"), flush=True)
    print(bench.calls_per_message(), flush=True)


def _fanout(fanout: Fanout, parts: list[str]) -> None:
    if "fanout" in parts:
        fanout.all_to_all()
    if "saturated" in parts:
        fanout.saturated()
    if "stalled" in parts:
        fanout.one_stalled()


def _analysis(folder: Path, scale: float, repeats: int) -> None:
    analysis_bench(folder, [int(size * scale) for size in ANALYSED], repeats)
    os.environ.pop(SECRET_VARIABLE, None)
    run, warm_up = (
        made_up_run(f"file://{folder}/{name}", int(messages * scale))
        for name, messages in (("shared", 50_000_000), ("warm-up", 10_000_000))
    )
    one, two = (seconds_on_workers(folder, run, warm_up, workers, os.environ) for workers in (1, 2))
    what = "analysis on two workers of a core against one"
    print(f"{what:<44} {one / two:6.2f}×  (goal ≥ 1.6; {one:.0f} and {two:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
