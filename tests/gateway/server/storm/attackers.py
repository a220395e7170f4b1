"""All attacks at once, each from an address of its own, until the time is up; then what became of them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections import Counter
from typing import Any

from .attacks import ATTACKS, Attack
from .peer import Gone, Peer
from .programs import obey, say

_VISIT_DEADLINE_S, _CONNECT_DEADLINE_S = 25.0, 10.0


class Siege:
    def __init__(self, port: int, seconds: float, scale: float, only: list[str]) -> None:
        self._port, self._seconds, self._scale = port, seconds, scale
        self._attacks = [attack for attack in ATTACKS if not only or attack.name in only]
        self.outcomes: dict[str, Counter[str]] = {attack.name: Counter() for attack in self._attacks}

    async def go(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._seconds
        async with asyncio.TaskGroup() as group:
            for attack in self._attacks:
                for _ in range(max(1, round(attack.visitors * self._scale))):
                    group.create_task(self._come_again(attack, until_s))
        return {name: dict(outcomes) for name, outcomes in self.outcomes.items()}

    async def _come_again(self, attack: Attack, until_s: float) -> None:
        """One visitor, again and again, and never faster than the attack's pause allows."""
        loop, outcomes = asyncio.get_running_loop(), self.outcomes[attack.name]
        address = f"127.0.0.{10 + ATTACKS.index(attack)}"
        while (left_s := until_s - loop.time()) > 0:
            raw = _socket(address)
            try:
                async with asyncio.timeout(_CONNECT_DEADLINE_S):
                    await loop.sock_connect(raw, ("127.0.0.1", self._port))
                peer = Peer(raw)
                async with asyncio.timeout(min(left_s, _VISIT_DEADLINE_S)):
                    await attack.visit(peer)
                outcomes["done"] += 1
            except TimeoutError:
                outcomes["held"] += 1
            except (Gone, OSError):
                outcomes["dropped"] += 1
            finally:
                raw.close()
            await asyncio.sleep(attack.pause_s)


def _socket(address: str) -> socket.socket:
    raw = socket.socket()
    raw.setblocking(False)
    # A connection is broken, not ended; and what is not read must not vanish in the kernel's buffers.
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    raw.bind((address, 0))
    return raw


async def main() -> None:
    # In the world they have machines of their own. Here they get the time that neither the gateway nor the
    # honest clients want: else the figures would tell how a kernel shares its cores, not what an attack does.
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    given = json.loads(sys.argv[1])
    siege = Siege(given["port"], given["seconds"], given["scale"], given.get("only", []))
    say(attacks=len(siege.outcomes))
    await obey({"go": siege.go})


if __name__ == "__main__":
    asyncio.run(main())
