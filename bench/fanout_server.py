"""The gateway as a server that pushes one message to all.

`python -m bench.fanout_server PORT SESSIONS RATE BYTES`

It waits until SESSIONS have subscribed, says "publishing", and publishes until it is ended. A message is
"@<10 digits: number>,<19 digits: when it was due, CLOCK_MONOTONIC ns>@" and filler, as with the others.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time

from streamgauge.systems.push_gateway.contract import MODES, AdapterSet, Listener
from streamgauge.systems.push_gateway.serving import serve
from streamgauge.systems.push_gateway.settings import ServerSettings

_NS_PER_S = 1_000_000_000
_LOOK_S = 0.02


class Ticker:
    """A source that publishes by the clock."""

    def __init__(self, sessions: int, rate: float, size_bytes: int) -> None:
        self._sessions, self._rate, self._filler = sessions, rate, "x" * (size_bytes - 32)

    def start(self, listener: Listener) -> None:
        self._listener = listener
        self._task = asyncio.get_running_loop().create_task(self._publish())

    def subscribe(self, item: str) -> None:
        """There is one item."""

    def unsubscribe(self, item: str) -> None:
        """There is one item."""

    def schema(self, item: str) -> tuple[str, ...]:
        return ("message",)

    def modes(self, item: str) -> frozenset[str]:
        return MODES

    def snapshot_available(self, item: str) -> bool:
        return False

    def close(self) -> None:
        self._task.cancel()

    async def _publish(self) -> None:
        while self._followers() < self._sessions:
            await asyncio.sleep(_LOOK_S)
        print("publishing", flush=True)
        start_ns, number = time.monotonic_ns(), 0
        while True:
            due_ns = start_ns + int(number * _NS_PER_S / self._rate)
            wait_s = (due_ns - time.monotonic_ns()) / _NS_PER_S
            # All that is due by now goes out together; then others have their turn.
            if wait_s > 0 or number % 64 == 63:
                await asyncio.sleep(max(0.0, wait_s))
            self._listener.publish("bench", {"message": f"@{number:010d},{due_ns:019d}@{self._filler}"})
            number += 1

    def _followers(self) -> int:
        """Sessions that have subscribed: members of cohorts that follow something."""
        return sum(
            len(follower.stream.members) for feed in self._listener._names for follower in feed.followers
        )


def main() -> None:
    port, sessions, rate, size_bytes = (
        int(sys.argv[1]),
        int(sys.argv[2]),
        float(sys.argv[3]),
        int(sys.argv[4]),
    )
    settings = ServerSettings.model_validate({"port": port, "limits": {"sessions": sessions + 100}})
    # Long-lived objects by the ten thousand: a full collection now and then would only walk over them.
    gc.freeze()
    serve(settings, lambda process: AdapterSet("BENCH", {"DEFAULT": Ticker(sessions, rate, size_bytes)}))


if __name__ == "__main__":
    main()
