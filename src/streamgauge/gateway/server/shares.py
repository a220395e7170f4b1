"""A share of the processing time: used up, it comes back as time goes by."""

from __future__ import annotations

from streamgauge.core.clock import NS_PER_S


class Share:
    """`part` of a core; what is not used is saved up, as much as `window_s` seconds bring."""

    __slots__ = ("_at_ns", "_left_ns", "_most_ns", "_part")

    def __init__(self, part: float, window_s: float) -> None:
        self._part, self._most_ns = part, part * window_s * NS_PER_S
        self._left_ns, self._at_ns = self._most_ns, 0

    def spend(self, spent_ns: int, now_ns: int) -> float:
        """Seconds until there is some left; 0 while there is."""
        left_ns = self._left_at(now_ns) - spent_ns
        self._left_ns, self._at_ns = left_ns, now_ns
        return 0.0 if left_ns >= 0 else -left_ns / self._part / NS_PER_S

    @property
    def is_half_used(self) -> bool:
        return self._left_ns < self._most_ns / 2

    @property
    def is_overdrawn_twice(self) -> bool:
        """As much again was used as there can be."""
        return self._left_ns < -self._most_ns

    def is_whole(self, now_ns: int) -> bool:
        return self._left_at(now_ns) >= self._most_ns

    def used(self, now_ns: int) -> float:
        """The part that is used up; more than 1 when it is overdrawn."""
        return 1 - self._left_at(now_ns) / self._most_ns

    def _left_at(self, now_ns: int) -> float:
        return min(self._most_ns, self._left_ns + (now_ns - self._at_ns) * self._part)
