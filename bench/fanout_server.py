"""The gateway as a server that pushes the same message to all who follow an item.

`python -m bench.fanout_server PORT RATE BYTES ITEMS` waits until a line comes in, and publishes until it is
ended: RATE messages a second of each item, `bench0`, `bench1` …
A message is "@<10 digits: number>,<19 digits: when it was due, CLOCK_MONOTONIC ns>@" and filler.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Sequence

from streamgauge.gateway.server.contract import MODES, AdapterSet, Listener, SourceCounters
from streamgauge.gateway.server.serving import serve
from streamgauge.gateway.server.settings import ServerSettings

ITEM, FIELD, MARK_BYTES = "bench", "message", 32
_NS_PER_S = 1_000_000_000
_AT_ONCE = 64
MONITORING_HOST = "127.0.0.2"
"""The same port at another address of this machine."""


class Ticker:
    """A source that publishes by the clock."""

    def __init__(self, rate: float, size_bytes: int, items: int) -> None:
        self._rate, self._filler, self._items = rate * items, "x" * (size_bytes - MARK_BYTES), items
        self.counters = SourceCounters()

    def start(self, listener: Listener) -> None:
        self._listener = listener
        self._task = asyncio.get_running_loop().create_task(self._publish())

    def prepare(self, items: Sequence[str], ready: Callable[[], None]) -> bool:
        return True

    def subscribe(self, item: str) -> None:
        """They are published all the same."""

    def unsubscribe(self, item: str) -> None:
        """They are published all the same."""

    def schema(self, item: str) -> tuple[str, ...]:
        return (FIELD,)

    def modes(self, item: str) -> frozenset[str]:
        return MODES

    def snapshot_available(self, item: str) -> bool:
        return False

    def close(self) -> None:
        self._task.cancel()

    async def _publish(self) -> None:
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), told.set)
        await told.wait()
        loop.remove_reader(sys.stdin.fileno())
        start_ns, number = time.monotonic_ns(), 0
        while True:
            due_ns = start_ns + int(number * _NS_PER_S / self._rate)
            wait_s = (due_ns - time.monotonic_ns()) / _NS_PER_S
            # All that is due by now goes out together; then others have their turn.
            if wait_s > 0 or number % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(max(0.0, wait_s))
            of_item, item = divmod(number, self._items)
            self._listener.publish(f"{ITEM}{item}", {FIELD: f"@{of_item:010d},{due_ns:019d}@{self._filler}"})
            number += 1


def main() -> None:
    port, rate = int(sys.argv[1]), float(sys.argv[2])
    size_bytes, items = int(sys.argv[3]), int(sys.argv[4])
    # Who stalls is not dropped while others are measured beside it.
    settings = ServerSettings.model_validate(
        {
            "port": port,
            "monitoring_host": MONITORING_HOST,
            "monitoring_port": port,
            "limits": {"unread_deadline": "120s"},
        }
    )
    gc.freeze()  # What is there now stays: no collection need look at it.
    serve(settings, lambda process: AdapterSet("BENCH", {"DEFAULT": Ticker(rate, size_bytes, items)}))


if __name__ == "__main__":
    main()
