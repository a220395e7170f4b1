"""What was sent last, for clients whose connection broke: the newest data lines, by their count."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from weakref import WeakSet


class RecoveryRoom:
    """What all rings together may hold. When it is full, the one that holds most gives up its older half:
    who has been sent little keeps all of it."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        """None: as much as they like."""
        self._limit_bytes = limit_bytes
        self.held_bytes = self.cuts = 0
        self.rings: WeakSet[RecoveryRing] = WeakSet()

    def add(self, more_bytes: int) -> None:
        self.held_bytes += more_bytes
        while self._limit_bytes is not None and self.held_bytes > self._limit_bytes:
            most = max(self.rings, key=lambda ring: ring.held_bytes)
            assert most.held_bytes
            self.cuts += 1
            most.shrink(most.held_bytes // 2)


class RecoveryRing:
    """The newest lines within a limit of bytes; the lines themselves may be shared with others."""

    __slots__ = ("__weakref__", "_limit_bytes", "_lines", "_room", "end", "held_bytes")

    def __init__(self, limit_bytes: int, end: int = 0, room: RecoveryRoom | None = None) -> None:
        self._limit_bytes, self.held_bytes = limit_bytes, 0
        self._lines: deque[bytes] = deque()
        self.end = end
        """The count of the newest line."""
        self._room = room or RecoveryRoom()
        self._room.rings.add(self)

    def __del__(self) -> None:
        # A stream may be gone long before the last session that still remembers it.
        self._room.held_bytes -= self.held_bytes

    @property
    def start(self) -> int:
        """From this count on nothing is missing."""
        return self.end - len(self._lines)

    def extend(self, lines: Sequence[bytes]) -> None:
        self._lines.extend(lines)
        self.end += len(lines)
        before, held = self.held_bytes, self.held_bytes + sum(map(len, lines))
        while held > self._limit_bytes:
            held -= len(self._lines.popleft())
        self.held_bytes = held
        self._room.add(held - before)

    def shrink(self, size_bytes: int) -> None:
        """Hold no more than so much, of the newest."""
        before = self.held_bytes
        while self.held_bytes > size_bytes:
            self.held_bytes -= len(self._lines.popleft())
        self._room.held_bytes -= before - self.held_bytes

    def between(self, after: int, until: int) -> list[bytes] | None:
        """The lines with a count above `after`, up to `until`; None when some are not held."""
        if not self.start <= after <= until <= self.end:
            return None
        return list(islice(self._lines, after - self.start, until - self.start))
