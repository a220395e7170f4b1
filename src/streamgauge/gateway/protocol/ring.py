"""What was sent last, for clients whose connection broke: the newest data lines, by their count."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice


class RecoveryRing:
    """The newest lines within a limit of bytes; the lines themselves may be shared with others."""

    __slots__ = ("_held_bytes", "_limit_bytes", "_lines", "end")

    def __init__(self, limit_bytes: int, end: int = 0) -> None:
        self._limit_bytes, self._held_bytes = limit_bytes, 0
        self._lines: deque[bytes] = deque()
        self.end = end
        """The count of the newest line."""

    @property
    def start(self) -> int:
        """From this count on nothing is missing."""
        return self.end - len(self._lines)

    def extend(self, lines: Sequence[bytes]) -> None:
        self._lines.extend(lines)
        self.end += len(lines)
        held = self._held_bytes + sum(map(len, lines))
        while held > self._limit_bytes:
            held -= len(self._lines.popleft())
        self._held_bytes = held

    def between(self, after: int, until: int) -> list[bytes] | None:
        """The lines with a count above `after`, up to `until`; None when some are not held."""
        if not self.start <= after <= until <= self.end:
            return None
        return list(islice(self._lines, after - self.start, until - self.start))
