"""How many clients do two cores hold, broker and simulator and all? `streamgauge fanout`, and its cost."""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.core.run_dir import RunDir

CROWDS = (("2", 38_000, 100.0), ("1", 25_000, 150.0))
"""Scenario, clients, and the mean latency (ms) to stay below."""
MOST_OF_THE_GATEWAY = 0.5
"""CPU of the simulator, over the gateway's."""
_DEADLINE_S = 600.0
_DURATION_S = 30


@dataclass(frozen=True)
class Crowd:
    mean_ms: float
    p99_ms: float
    holds: bool
    updates: int
    gateway_cores: float
    swarm_cores: float
    gateway_kib: float
    """A session, all of the process counted."""
    swarm_kib: float
    loop: str

    def line(self) -> str:
        share = self.swarm_cores / self.gateway_cores
        return (
            f"mean {self.mean_ms:.1f} ms, p99 {self.p99_ms:.0f} ms, {self.updates:,} updates,"
            f" {'all came' if self.holds else 'it did not hold'}; gateway {self.gateway_cores:.2f} cores,"
            f" simulator {self.swarm_cores:.2f} ({share:.2f}×), loop {self.loop}; a session:"
            f" gateway {self.gateway_kib:.1f} KiB, simulator {self.swarm_kib:.1f} KiB"
        )


def crowds(folder: Path, repeats: int, scale: float) -> None:
    """`scale`: of the clients; goals are for all of them on two cores."""
    for scenario, most, goal_ms in CROWDS:
        clients = max(10, int(most * scale))
        done = []
        for repeat in range(repeats):
            done.append(_crowd(scenario, clients, folder / f"crowd-{scenario}-{repeat}"))
            print(f"… scenario {scenario}, {clients:,} clients: {done[-1].line()}", flush=True)
        means = [crowd.mean_ms for crowd in done]
        shares = [crowd.swarm_cores / crowd.gateway_cores for crowd in done]
        print(
            f"{f'scenario {scenario}, {clients:,} clients, mean':<44} {statistics.median(means):6.1f} ms"
            f"  (goal < {goal_ms:g}; {min(means):.1f}–{max(means):.1f} of {repeats})"
        )
        print(
            f"{'… simulator CPU a delivery over the gateway':<44} {statistics.median(shares):6.2f}×"
            f"  (goal ≤ {MOST_OF_THE_GATEWAY}; {min(shares):.2f}–{max(shares):.2f})",
            flush=True,
        )


def _crowd(scenario: str, clients: int, out: Path) -> Crowd:
    flags = ["--scenario", scenario, "--clients", str(clients), "--duration", f"{_DURATION_S}s"]
    command = [sys.executable, "-m", "streamgauge.cli.main", "fanout", *flags, "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    runs = sorted(out.glob(f"*/{RunDir.results_document}"))
    if not runs:
        raise SystemExit(f"a fan-out left no results: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    run = RunDir(str(runs[0].parent.parent))
    [point] = run.read_json(run.results_document)["fanout"]["points"]
    use: dict[str, Any] = point["use"]
    return Crowd(
        mean_ms=point["latency_ms"]["mean"],
        p99_ms=point["latency_ms"]["p99"],
        holds=bool(point["holds"]),
        updates=point["accounting"]["received"],
        gateway_cores=use["gateway"]["cpu_cores"],
        swarm_cores=use["swarm"]["cpu_cores"],
        gateway_kib=use["gateway"]["memory_bytes"] / 1024 / clients,
        swarm_kib=use["swarm"]["memory_bytes"] / 1024 / clients,
        loop=run.read_json(run.manifest(point["case"], "swarm-0"))["settings"]["loop"],
    )
