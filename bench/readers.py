"""Is io_uring the better way to read thousands of sockets? Two bare C loops under the same load, in turns.

Not a figure of ours: it says which of the two the swarm's reader should stand on, on the kernel at hand.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.c_programs import build
from bench.ratio import Ratio, in_turns
from streamgauge.core.c_programs import NO_COMPILER

_SLACK_S = 60.0
LOADS = ((3_000, 30_000), (10_000, 40_000))
"""Sessions, deliveries a second; of 1 KiB each."""


def readers(folder: Path, pairs: int, scale: float) -> None:
    program = build("readers", folder)
    if program is None:
        print(f"readers: {NO_COMPILER}", flush=True)
        return
    for sessions, per_s in LOADS:
        for line in _compared(program, pairs, sessions, per_s, max(2.0, 8.0 * scale)):
            print(line, flush=True)


def _compared(program: Path, pairs: int, sessions: int, per_s: int, seconds: float) -> list[str]:
    found: dict[str, tuple[float, float]] = {}
    what = f"readers: io_uring over epoll, {sessions:,} sessions"
    reader = Ratio(f"{what}, CPU of the reader", "states")
    both = Ratio(f"{what}, of both sides", "states")

    def measure(way: str) -> None:
        command = [str(program), way, str(sessions), "1024", str(per_s), str(seconds)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + _SLACK_S, check=False
        )
        if done.returncode:
            raise SystemExit(f"readers {way}: {done.stderr.strip()}")
        deliveries, reader_us, sender_us = (float(figure) for figure in done.stdout.split())
        if deliveries < 0.8 * per_s * (seconds - 1):
            raise SystemExit(f"readers {way}: {deliveries:.0f} deliveries, the machine does not keep up")
        found[way] = (reader_us, reader_us + sender_us)

    for counts in in_turns(pairs, lambda: measure("ring"), lambda: measure("epoll")):
        if counts:
            for ratio, place in ((reader, 0), (both, 1)):
                ratio.ours.append(found["ring"][place])
                ratio.theirs.append(found["epoll"][place])
    return [reader.line("µs"), both.line("µs")]
