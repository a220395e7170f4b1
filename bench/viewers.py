"""What `streamgauge serve` costs while many watch a run: CPU of its process, in shares of a core.

The run is a folder whose agents are played by this process: 8 of them tell once a second, with as many
buckets of latencies as busy ones have. So nothing is measured but the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.plan.plan_file import make_plan, write_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

VIEWERS, SECONDS = 50, 30.0
GOAL = 0.05
_SETTLING_S = 5.0
_BUCKETS = 300
_END_DEADLINE_S = 60.0


def viewers(folder: Path, scale: float) -> None:
    run = _begun_run(folder / "watched")
    serve = [sys.executable, "-m", "streamgauge.cli.main", "serve", "--read-only", "--quiet", "--port", "0"]
    server = subprocess.Popen([*serve, "--out", run.parent], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        seconds = max(5.0, SECONDS * scale)
        cpu_s, events = asyncio.run(_watch(run, port, server.pid, seconds))
    finally:
        server.terminate()
        server.wait(_END_DEADLINE_S)
    what = f"serve: CPU of one core, {VIEWERS} viewers of a live run"
    print(
        f"{what:<44} {100 * cpu_s / seconds:6.2f}%  (goal < {100 * GOAL:g}%; {seconds:.0f} s, "
        f"{events / VIEWERS / seconds:.2f} events a second to each)",
        flush=True,
    )


def _begun_run(folder: Path) -> RunDir:
    name = time.strftime("%Y%m%d-%H%M%S-viewers", time.gmtime())
    content: dict[str, Any] = {
        "name": "viewers",
        "targets": [{"name": "made-up", "driver": "simulated"}],
        "load": {
            "producers": 4,
            "consumers": 4,
            "messages": 10_000_000,
            "rate": 10_000,
            "topics": {"partitions": 4},
        },
    }
    run = RunDir(str(folder / name))
    write_plan(make_plan(parse(Workload, content, "bench"), name), run)
    write_status(run, RunStatus(cases={"001": CaseStatus("running")}))
    return run


async def _watch(run: RunDir, port: int, pid: int, seconds: float) -> tuple[float, int]:
    """CPU seconds of the server, and events that came, after all had settled."""
    heard = [0] * VIEWERS
    telling = asyncio.create_task(_tell(run))
    watching = [asyncio.create_task(_view(run.id, port, heard, number)) for number in range(VIEWERS)]
    await asyncio.sleep(_SETTLING_S)
    before, events_before = _cpu_s(pid), sum(heard)
    await asyncio.sleep(seconds)
    used, events = _cpu_s(pid) - before, sum(heard) - events_before
    for task in (telling, *watching):
        task.cancel()
    await asyncio.wait((telling, *watching), timeout=_END_DEADLINE_S)
    return used, events


async def _view(name: str, port: int, heard: list[int], number: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /runs/{name}/live/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        heard[number] += line.startswith(b"data: ")


async def _tell(run: RunDir) -> None:
    sides = {f"producer-{n}": "sent" for n in range(4)} | {f"consumer-{n}": "received" for n in range(4)}
    for tick in range(10**6):
        for agent, counts in sides.items():
            buckets = sorted((random.randrange(10**6, 10**8), 8) for _ in range(_BUCKETS))
            told = {
                "case": "001",
                "kind": agent.partition("-")[0],
                "counts": counts,
                "tick": tick,
                "messages": tick * 2500,
                "at_s": time.time(),
                "cpu_s": tick * 0.2,
                "rss_bytes": 10**8,
                "buckets": buckets if counts == "received" else [],
            }
            run.write_text(run.live(agent), json.dumps(told))
        await asyncio.sleep(1.0)


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system
