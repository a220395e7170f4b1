"""How many requests a connection may make: so many a second, and one second's worth at once."""

from __future__ import annotations


class Allowance:
    __slots__ = ("_at_s", "_left", "_per_s")

    def __init__(self, per_s: float, now_s: float) -> None:
        self._per_s, self._left, self._at_s = per_s, per_s, now_s

    def spend(self, requests: int, now_s: float) -> float:
        """Seconds to wait before the next may be read; 0 while there is some left."""
        self._left = min(self._per_s, self._left + (now_s - self._at_s) * self._per_s) - requests
        self._at_s = now_s
        return 0.0 if self._left >= 0 else -self._left / self._per_s
