"""The one loop that costs: the same bytes to many sockets."""

from __future__ import annotations

import os

from streamgauge.native.loading import Loop, compiled_loops

NOTHING_SENT = 0
_LOOPS = compiled_loops("broadcast")
LOOP: Loop = "python" if _LOOPS is None else "native"


def send_to_all_in_python(sockets: list[int], frame: bytes) -> list[tuple[int, int]]:
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


send_to_all = send_to_all_in_python if _LOOPS is None else _LOOPS.broadcast
"""The same, in C where that was compiled."""
