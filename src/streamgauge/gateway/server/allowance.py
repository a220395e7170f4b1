"""How much may be asked for: so much a second, and one second's worth at once."""

from __future__ import annotations

from collections.abc import Callable

_MOST_ALLOWANCES = 10_000


class Allowance:
    __slots__ = ("_at_s", "_left", "_per_s")

    def __init__(self, per_s: float, now_s: float) -> None:
        self._per_s, self._left, self._at_s = per_s, per_s, now_s

    def spend(self, requests: int, now_s: float) -> float:
        """Seconds to wait before the next may be read; 0 while there is some left."""
        self._left = min(self._per_s, self._left + (now_s - self._at_s) * self._per_s) - requests
        self._at_s = now_s
        return 0.0 if self._left >= 0 else -self._left / self._per_s

    def is_full(self, now_s: float) -> bool:
        """Whether it is as if nothing had ever been asked for."""
        return self._left + (now_s - self._at_s) * self._per_s >= self._per_s


class Allowances:
    """One for each of those who ask: addresses, say. Who has not asked for a while is forgotten."""

    def __init__(self, per_s: float, clock: Callable[[], float]) -> None:
        # Less than one a second is saved up until it is one.
        self._per_s, self._clock = max(per_s, 1.0), clock
        self._each: dict[str, Allowance] = {}

    def spend(self, who: str) -> bool:
        """Whether one more is allowed; what is not is not counted."""
        now_s = self._clock()
        allowance = self._each.get(who)
        if allowance is None:
            if len(self._each) >= _MOST_ALLOWANCES:
                self._each = {key: one for key, one in self._each.items() if not one.is_full(now_s)}
            if len(self._each) >= _MOST_ALLOWANCES:
                return False
            allowance = self._each[who] = Allowance(self._per_s, now_s)
        if allowance.spend(1, now_s):
            allowance.spend(-1, now_s)
            return False
        return True
