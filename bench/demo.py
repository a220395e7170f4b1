"""Is the first number that a person sees true? `make demo` over and over, each with its case again after it.

The second round is measured on a broker that has had all the time of the first: if the first had been cold,
its median would be another one.

The first of them is not counted: it makes the archives of classes, in the user's own cache, which all use.
The seconds of these are those of a run with two rounds less the second round; so `make demo` itself is timed,
too, twice after them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import yaml

from streamgauge.core.clock import NS_PER_S
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import stages_text
from streamgauge.core.status import read_status
from streamgauge.core.verdicts import Cause
from streamgauge.families.e2e.command import e2e
from streamgauge.plan.warm_up_file import WarmUp, read_warm_ups
from streamgauge.report.cause_words import cause_text
from streamgauge.spec.loading import dump_yaml

DEMOS = 10
WITHIN = 1.5
ENOUGH = 0.9
MOST_P50_MS = 10.0
MOST_S = 25.0
_DEADLINE_S = 300.0
_MADE = 2
_ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Demo:
    """What one said of its case, and of the same case again."""

    p50_ms: tuple[float, ...]
    verdicts: tuple[str, ...]
    """Integrity and validity of each."""
    causes: tuple[tuple[str, ...], ...]
    """Why the figures of each may not be quoted, with what was seen."""
    stages_s: dict[str, float]
    """Of both rounds."""
    wall_s: float
    """Without the second round."""
    warm_ups: tuple[WarmUp, ...]

    @property
    def ratio(self) -> float:
        first, again = self.p50_ms
        return first / again

    @property
    def is_near(self) -> bool:
        return max(self.ratio, 1 / self.ratio) <= WITHIN

    def line(self) -> str:
        first, again = self.p50_ms
        ends = ", ".join(f"{warm_up.seconds:.4g} s {warm_up.ended}" for warm_up in self.warm_ups)
        lines = [
            f"p50 {first:.2f} ms, again {again:.2f} ms: {self.ratio:.2f}×; {', '.join(self.verdicts)};"
            f" warm-up {ends}",
            f"{self.wall_s:.1f} s in all; both rounds: {stages_text(self.stages_s)}",
        ]
        for which, causes in zip(("first", "again"), self.causes, strict=True):
            lines += [f"{which}, not valid: {cause}" for cause in causes]
        for which, warm_up in zip(("first", "again"), self.warm_ups, strict=True):
            lines += [f"{which}, {course}" for course in _course(warm_up)]
        return "\n   ".join(lines)


def demos(folder: Path, count: int) -> None:
    """Goals: the ratio within 1.5 in nine of ten, all of them valid and below 10 ms, 25 s each."""
    workload = folder / "demo.yaml"
    workload.write_text(_twice())
    done: list[Demo] = []
    # The first one makes the class archives: it is not the second `make demo`.
    for number in range(count + 1):
        demo = _demo(workload, folder / f"demo-{number}")
        what = f"demo {number}" if number else "first demo, not counted"
        print(f"{what}: {demo.line()}", flush=True)
        done += [demo] if number else []
    near = sum(demo.is_near for demo in done)
    valid = sum(demo.verdicts[0] == "ok valid" for demo in done)
    print("ratios: " + " ".join(f"{demo.ratio:.2f}" for demo in done))
    print(f"{'demos within 1.5× of the case again':<44} {near} of {count}  (goal ≥ {ENOUGH * count:g})")
    print(f"{'… valid':<44} {valid} of {count}")
    slowest = max(demo.p50_ms[0] for demo in done)
    print(f"{'… p50, the highest':<44} {slowest:6.2f} ms  (goal < {MOST_P50_MS:g})")
    walls = [demo.wall_s for demo in done]
    print(
        f"{'… seconds in all, median':<44} {statistics.median(walls):6.1f} s  (goal ≤ {MOST_S:g};"
        f" {min(walls):.1f}–{max(walls):.1f})",
        flush=True,
    )
    for _ in range(_MADE):
        print(f"{'make demo':<44} {_made_s():6.1f} s  (goal ≤ {MOST_S:g})", flush=True)


def _made_s() -> float:
    """Of the command that a person types; its run is in `runs/`, as theirs would be."""
    begun_s = time.monotonic()
    done = subprocess.run(
        ["make", "demo"], cwd=_ROOT, capture_output=True, text=True, timeout=_DEADLINE_S, check=False
    )
    if done.returncode:
        raise SystemExit(f"make demo failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.monotonic() - begun_s


def _twice() -> str:
    """The load of `make demo`, in two rounds."""
    demo = e2e(
        producers=2,
        consumers=2,
        messages="10000",
        rate="2000",
    )
    content: dict[str, Any] = yaml.safe_load(dump_yaml(demo.workload))
    return yaml.safe_dump({**content, "kind": "sweep", "name": "demo", "iterations": 2})


def _course(warm_up: WarmUp) -> list[str]:
    """The medians of its seconds since the start of the load: what the rule for rest had to decide on."""
    levels = warm_up.levels
    if levels is None or levels.latency_ms is None:
        return []
    slots = round(1 / levels.slot_s)
    seconds = [levels.latency_ms[k : k + slots] for k in range(0, len(levels.latency_ms), slots)]
    return ["ms a second: " + " ".join(f"{statistics.median(second):.2f}" for second in seconds)]


def _second_round_s(run: RunDir) -> float:
    """From the last thing that agents did in the first round to that in the second."""
    marks = ds.dataset(run.url(run.events("marks")), format="parquet", partitioning="hive").to_table()
    ends: dict[Any, int] = {}
    for case, at_ns in zip(marks["case"].to_pylist(), marks["at_ns"].to_pylist(), strict=True):
        ends[case] = max(at_ns, ends.get(case, 0))
    first_ns, last_ns = sorted(ends.values())
    return (last_ns - first_ns) / NS_PER_S


def _demo(workload: Path, out: Path) -> Demo:
    begun_s = time.monotonic()
    command = [sys.executable, "-m", "streamgauge.cli.main", "run", str(workload), "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    wall_s = time.monotonic() - begun_s
    runs = sorted(out.glob(f"*/{RunDir.results_document}"))
    if not runs:
        raise SystemExit(f"a demo left no results: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    run = RunDir(str(runs[0].parent.parent))
    cases: list[dict[str, Any]] = run.read_json(run.results_document)["cases"]
    warm_ups = tuple(read_warm_ups(run).values())
    return Demo(
        p50_ms=tuple(case["latency_ms"]["intended_to_received"]["p50"] for case in cases),
        verdicts=tuple(f"{case['integrity']['verdict']} {case['validity']['verdict']}" for case in cases),
        causes=tuple(
            tuple(cause_text(Cause.model_validate(cause)) for cause in case["validity"]["causes"])
            for case in cases
        ),
        stages_s=read_status(run).stages_s,
        wall_s=wall_s - _second_round_s(run),
        warm_ups=warm_ups,
    )
