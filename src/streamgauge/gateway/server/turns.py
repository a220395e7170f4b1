"""Whose turn it is: what clients have sent is dealt with a slice at a time.

In one turn of the event loop all connections together get so long, whoever they are and however many have
sent something. What is left waits for the next turn, and before that updates are sent and timers run: so
nobody who sends much, nor a thousand who send a little, can hold up by more than a slice what is to go out.
Those who wait go on one address after another, not one connection after another: to have many is no gain.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from streamgauge.core.clock import NS_PER_S

OURS = ""
"""The network of what nobody has sent: to clear up after those who have gone."""


class Turns:
    """Of one process."""

    def __init__(self, slice_s: float) -> None:
        self._slice_ns = int(slice_s * NS_PER_S)
        self._spent_ns = 0
        """Of this turn of the loop."""
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        """By network; the next one first."""
        self._is_called = False

    def are_over(self, since_ns: int) -> bool:
        """Whether others have to be let in: something has been dealt with since, and before that."""
        return self._spent_ns + time.monotonic_ns() - since_ns > self._slice_ns

    def spent(self, spent_ns: int) -> None:
        self._spent_ns += spent_ns
        self._call()

    def wait(self, network: str, go_on: Callable[[], None]) -> None:
        """Call this when it is that network's turn again, which is not before the loop's next."""
        self._waiting.setdefault(network, deque()).append(go_on)
        self._call()

    def carry_out(self, network: str, steps: Iterator[object]) -> None:
        """As many steps as there is time for now, one at least; the rest when it is that network's turn."""
        began_ns = time.monotonic_ns()
        for _ in steps:
            if self.are_over(began_ns):
                self.wait(network, partial(self.carry_out, network, steps))
                break
        self.spent(time.monotonic_ns() - began_ns)

    def __len__(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    def _call(self) -> None:
        if not self._is_called:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        """A new turn of the loop: first those who have waited, then who has sent something since."""
        self._is_called, self._spent_ns = False, 0
        try:
            for _ in range(len(self)):
                self._let_in_next()
                if self._spent_ns > self._slice_ns:
                    break
        finally:
            if self._waiting:
                self._call()

    def _let_in_next(self) -> None:
        network, waiting = next(iter(self._waiting.items()))
        del self._waiting[network]
        go_on = waiting.popleft()
        if waiting:
            # Behind all others.
            self._waiting[network] = waiting
        go_on()
