"""The one loop that costs: the same bytes to many sockets."""

from __future__ import annotations

import os
from collections.abc import Sequence

NOTHING_SENT = 0


def send_to_all(sockets: Sequence[int], frame: bytes) -> list[tuple[int, int]]:
    """Write a frame to every socket; (index, bytes sent) of those that did not take all of it."""
    late: list[tuple[int, int]] = []
    write, size = os.write, len(frame)
    for index, socket in enumerate(sockets):
        try:
            sent = write(socket, frame)
            if sent != size:
                late.append((index, sent))
        except OSError:
            # Full, or broken: of the latter the event loop will tell.
            late.append((index, NOTHING_SENT))
    return late
