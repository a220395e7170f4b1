"""A gateway to be stormed. It publishes two items to whoever subscribes to them, on a schedule."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from array import array
from itertools import count
from pathlib import Path

import numpy as np

from streamgauge.gateway.server.authentication import load_users, user_line
from streamgauge.gateway.server.contract import AdapterSet, Listener
from streamgauge.gateway.server.gateway_process import log_to_stderr
from streamgauge.gateway.server.serving import serve
from streamgauge.gateway.server.settings import ServerSettings

from ..memory_source import MemorySource
from .programs import ADAPTER_SET, FAT, TICKS, TOKEN, say

_FAT_PER_S, _FAT_BYTES = 50, 4000
_TURN_S = 0.005


class Schedule(MemorySource):
    """Every update carries its number, and when it was due: what is late has been late from then on."""

    def __init__(self, ticks_per_s: float) -> None:
        super().__init__()
        self._ticks_per_s = ticks_per_s
        self._turns_ns = array("q")
        self._followed = set[str]()

    def start(self, listener: Listener) -> None:
        super().start(listener)
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._publish(TICKS, self._ticks_per_s, "")),
            loop.create_task(self._publish(FAT, _FAT_PER_S, "x" * _FAT_BYTES)),
            loop.create_task(self._look_at_turns()),
        ]

    def subscribe(self, item: str) -> None:
        self._followed.add(item)

    def unsubscribe(self, item: str) -> None:
        self._followed.remove(item)

    async def _publish(self, item: str, per_s: float, filler: str) -> None:
        begun_ns = time.monotonic_ns()
        for number in count():
            due_ns = begun_ns + int(number / per_s * 1e9)
            await asyncio.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
            if item in self._followed:
                fields = {"number": str(number), "due_ns": str(due_ns), "filler": f"{filler}{number}"}
                self.listener.publish(item, fields)

    async def _look_at_turns(self) -> None:
        """How much processing time passes between two turns of the loop: so long everybody else waits,
        whatever else the machine is doing."""
        before_ns = time.thread_time_ns()
        while True:
            await asyncio.sleep(_TURN_S)
            now_ns = time.thread_time_ns()
            self._turns_ns.append(now_ns - before_ns)
            before_ns = now_ns

    def close(self) -> None:
        p99_ns, longest_ns = np.percentile(self._turns_ns, (99, 100))
        say(turn_p99_ms=round(float(p99_ns) / 1e6, 2), longest_turn_ms=round(float(longest_ns) / 1e6, 2))
        for task in self._tasks:
            task.cancel()
        super().close()


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def main() -> None:
    log_to_stderr()
    given = json.loads(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        users = Path(folder) / "users"
        lines = [user_line("*", TOKEN, is_token=True), user_line("honest", "right", is_token=False)]
        users.write_text("".join(f"{line}\n" for line in lines))
        authenticator = load_users(users)
    source = Schedule(given["ticks_per_s"])
    serve(
        ServerSettings.model_validate({"port": 0, **given["settings"]}),
        lambda _: AdapterSet(ADAPTER_SET, {"DEFAULT": source}, authenticator=authenticator),
        ready=lambda addresses: say(port=_port(addresses.clients), monitoring=_port(addresses.monitoring)),
    )


if __name__ == "__main__":
    main()
