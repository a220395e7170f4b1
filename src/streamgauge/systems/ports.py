"""Ports for what we start: of this machine only, and free when they are chosen."""

from __future__ import annotations

import random
import socket

from streamgauge.core.errors import BadInput

HOST = "127.0.0.1"

# Below the range Linux and macOS take the ports of outgoing connections from, so that a
# client of somebody else does not take ours between choosing it and binding it.
_PORTS = range(20_000, 32_000)
_PORT_ATTEMPTS = 1000


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on. Another process can still be faster: see the retry
    where systems are started."""
    held: list[socket.socket] = []
    try:
        for candidate in random.sample(_PORTS, _PORT_ATTEMPTS):
            listener = socket.socket()
            held.append(listener)
            try:
                listener.bind((HOST, candidate))
            except OSError:
                held.pop().close()
            if len(held) == count:
                return [listener.getsockname()[1] for listener in held]
        raise BadInput(f"no {count} free ports on {HOST} between {_PORTS.start} and {_PORTS.stop}")
    finally:
        for listener in held:
            listener.close()
