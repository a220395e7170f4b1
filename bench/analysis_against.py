"""The analysis of this tree against that of another, say of the last release: ratios from one run.

`python -m bench analysis --against PATH`; PATH is a checkout, whose source is used as it is with the packages
of this environment. Both trees analyse the same events in turns, each time in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_OWN = Path(__file__).resolve().parents[1]
_FIGURES = {
    "seconds": "seconds",
    "cpu_s": "CPU of the machine",
    "first_s": "seconds of 3,000 messages in a new session",
    "again_s": "… when repeated",
}


def analysis_against(tree: Path, folder: Path, sizes: list[int], pairs: int) -> None:
    for size in sizes:
        costs: dict[Path, list[dict[str, float]]] = {_OWN: [], tree.resolve(): []}
        for pair in range(pairs):
            # ABBA: what drifts meanwhile meets both alike.
            order = list(costs) if pair % 2 == 0 else list(costs)[::-1]
            for root in order:
                costs[root].append(_cost(root, folder, size))
        ours, theirs = costs.values()
        for name, words in _FIGURES.items():
            new, old = (statistics.median(cost[name] for cost in own) for own in (ours, theirs))
            what = f"analysis of {size:,} messages against {tree.name}, {words}"
            print(f"{what:<96} {new / old:6.2f}×  ({new:.2f}, {old:.2f} s; {pairs} pairs)", flush=True)


def _cost(root: Path, folder: Path, size: int) -> dict[str, float]:
    path = os.pathsep.join((str(root / "src"), str(root)))
    with tempfile.TemporaryDirectory(dir=folder) as own:
        done = subprocess.run(
            [sys.executable, _OWN / "bench/tree_analysis.py", own, str(size)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=3600,
        )
    cost: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return cost
