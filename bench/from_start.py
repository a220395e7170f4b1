"""What a person waits for: CPU of `--version` and of `--help`, and where the seconds of a first run go.

`python -m bench start`, or with `--against PATH`, another checkout, whose source is used as it is with the
packages of this environment. Both trees take turns, and use what the user's cache has: its Kafka, its Java
and its archives of classes. The first turn of each only fills that, and is not counted.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.ratio import in_turns

_OWN = Path(__file__).resolve().parents[1]
_E2E = ("e2e", "--producers", "2", "--consumers", "2", "--messages", "10000", "--rate", "2000")
_WORDS = {"version": "CPU of --version", "help": "CPU of --help", "all": "e2e, 10,000 messages: in all"}
_DEADLINE_S = 300.0

Seconds = Mapping[str, float]


def from_start(folder: Path, pairs: int, against: Path | None) -> None:
    trees = [_OWN, *([] if against is None else [against.resolve()])]
    found: dict[Path, list[Seconds]] = {tree: [] for tree in trees}
    last: dict[Path, Seconds] = {}

    def turn(tree: Path) -> Callable[[], None]:
        def go() -> None:
            last[tree] = _seconds(tree, folder)

        return go

    for counts in in_turns(pairs, *map(turn, trees)):
        for tree in trees if counts else ():
            found[tree].append(last[tree])
    for line in lines(*found.values()):
        print(line, flush=True)


def lines(ours: Sequence[Seconds], theirs: Sequence[Seconds] = ()) -> list[str]:
    """One for each figure that any of them has, by medians; a stage that a run did not have took no time."""
    said = []
    for name in dict.fromkeys(name for turn in (*ours, *theirs) for name in turn):
        own, other = (
            [turn.get(name, 0.0) for turn in side] if any(name in turn for turn in side) else None
            for side in (ours, theirs)
        )
        what = _WORDS.get(name, f"… {name}")
        said.append(f"{what:<44} {_side(own)}" + (f"  against {_side(other)}" if theirs else ""))
    return said


def _side(seconds: Sequence[float] | None) -> str:
    if seconds is None:
        return "not known"
    return f"{statistics.median(seconds):7.2f} s ({min(seconds):.2f}–{max(seconds):.2f} of {len(seconds)})"


def _seconds(tree: Path, folder: Path) -> Seconds:
    run = partial(_run, tree)
    with tempfile.TemporaryDirectory(dir=folder) as out:
        found = {"version": run("--version"), "help": run("--help")}
        begun_s = time.monotonic()
        run(*_E2E, "--out", out)
        found["all"] = time.monotonic() - begun_s
        [status] = Path(out).glob("*/status.json")
        # Earlier trees did not keep them.
        return {**found, **json.loads(status.read_text()).get("stages_s", {})}


def _run(tree: Path, *arguments: str) -> float:
    """CPU seconds, of all processes that it began and waited for."""
    before_s = _cpu_of_children_s()
    done = subprocess.run(
        [sys.executable, "-m", "streamgauge.cli.main", *arguments],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{tree}: streamgauge {' '.join(arguments)} failed: {done.stderr[-2000:]}")
    return _cpu_of_children_s() - before_s


def _cpu_of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
