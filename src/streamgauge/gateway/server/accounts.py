"""One connection's account with the budget: what it has kept, what it is owed, what it has cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from streamgauge.gateway.server.allowance import Allowance
from streamgauge.gateway.server.shares import Share

if TYPE_CHECKING:
    from streamgauge.gateway.server.budget import Budget, Reason

_READ_PART = 4
"""Past this part of what it may be owed, a connection is not read: answers would only make it more."""


class Account:
    """Opened when a connection comes, kept when it becomes a WebSocket, closed when it is lost.

    `with account:` around whatever is done about a read charges the time it takes. It does not nest.
    """

    __slots__ = (
        *(
            "_allowance",
            "_began_ns",
            "_budget",
            "_go_on",
            "_is_full",
            "_is_held",
            "_turn_ns",
            "_owing_since_ns",
            "_paused",
        ),
        *("_seen_bytes", "_until_s", "address", "cpu", "held_bytes", "is_gone", "network", "transport"),
    )

    def __init__(self, budget: Budget, transport: asyncio.Transport, address: str, network: str) -> None:
        """`network`: under which all connections of the same origin are added up."""
        limits = budget.limits
        self._budget, self.transport, self.address, self.network = budget, transport, address, network
        self.cpu = Share(limits.cpu_share, limits.cpu_window)
        self._allowance = Allowance(limits.requests_per_s, time.monotonic())
        self._began_ns = self._turn_ns = 0
        self._go_on: Callable[[], None] | None = None
        """With what has been read already, when it is its turn again."""
        self._paused: asyncio.TimerHandle | None = None
        self._until_s = 0.0
        self._is_full = self._is_held = self.is_gone = False
        self.held_bytes = 0
        """All that ever had to wait in the transport."""
        self._seen_bytes = 0
        """What the socket had taken of it when somebody looked last."""
        self._owing_since_ns = 0

    def __enter__(self) -> Self:
        self._began_ns, self._turn_ns = time.thread_time_ns(), time.monotonic_ns()
        return self

    def __exit__(self, *_: object) -> None:
        self._budget.turns.spent(time.monotonic_ns() - self._turn_ns)
        self._wait(self._budget.spend_cpu(self, time.thread_time_ns() - self._began_ns))

    def spend(self, requests: int) -> None:
        """Its client has made so many, or what costs as much; who asks too fast is not read for a while."""
        self._wait(self._allowance.spend(requests, time.monotonic()))

    @property
    def turn_is_over(self) -> bool:
        """Whether the rest of what was read has to wait: it has used up what it may, or it is time to let
        others in."""
        return self._is_stopped or self._budget.turns.are_over(self._turn_ns)

    def later(self, go_on: Callable[[], None]) -> None:
        """Read no more of it, and go on with what was read when it is its turn again."""
        self._go_on = go_on
        self._pause()
        if not self._is_stopped:
            self._budget.turns.wait(self.network, self._resume)

    def keep(self, size: int) -> None:
        """So much of what it has sent is held for it now, to be dealt with later."""
        self._budget.keep(self, size)

    def hold(self) -> None:
        """Read no more of it until `release`: what it asks for has to wait for an answer from elsewhere."""
        self._is_held = True
        self._pause()

    def release(self) -> None:
        """After what has waited for that answer has been dealt with, which came first."""
        self._is_held = False
        self._budget.turns.wait(self.network, self._resume)

    def filled(self, *, reads_on: bool = True) -> None:
        """Its socket takes no more. `reads_on`: it may go on asking, as long as it is not owed too much."""
        self._owing_since_ns = time.monotonic_ns()
        self._seen_bytes = self.held_bytes - self.transport.get_write_buffer_size()
        self.owe()
        if not reads_on:
            self._stop_reading()

    def drained(self) -> None:
        """Its socket has taken what waited."""
        self._budget.owe(self, 0)
        self._read_again()

    def owe(self) -> None:
        """More has been written, or some of it has been taken."""
        size = self.transport.get_write_buffer_size()
        self._budget.owe(self, size)
        if size > self._budget.limits.owed_bytes // _READ_PART:
            self._stop_reading()

    def unread_ns(self, now_ns: int) -> int:
        """Nanoseconds since its socket took something of what waits: what is added is no progress."""
        taken_bytes = self.held_bytes - self.transport.get_write_buffer_size()
        if taken_bytes > self._seen_bytes:
            self._seen_bytes, self._owing_since_ns = taken_bytes, now_ns
        self.owe()
        return now_ns - self._owing_since_ns

    def drop(self, reason: Reason) -> None:
        self._budget.drop(self, reason)

    def close(self) -> None:
        """The connection is gone."""
        self._budget.close(self)
        self._go_on = None
        if self._paused is not None:
            self._paused.cancel()
            self._paused = None

    def _wait(self, wait_s: float) -> None:
        if not wait_s or self.transport.is_closing():
            return
        loop = asyncio.get_running_loop()
        self._until_s = max(self._until_s, loop.time() + wait_s)
        if self._paused is None:
            self._budget.counters.reads_delayed += 1
            self._paused = loop.call_later(wait_s, self._waited)
            self._pause()

    def _waited(self) -> None:
        loop = asyncio.get_running_loop()
        left_s = self._until_s - loop.time()
        if left_s > 0:
            self._paused = loop.call_later(left_s, self._waited)
            return
        self._paused = None
        self._resume_in_turn()

    def _stop_reading(self) -> None:
        """Until what it is owed has gone."""
        self._is_full = True
        self._pause()

    def _read_again(self) -> None:
        self._is_full = False
        self._resume_in_turn()

    def _resume_in_turn(self) -> None:
        if self._go_on is None:
            self._resume()
        else:
            self._budget.turns.wait(self.network, self._resume)

    def _resume(self) -> None:
        if self._go_on is not None and not self._is_stopped:
            go_on, self._go_on = self._go_on, None
            go_on()
        may_read = self._go_on is None and not self._is_stopped
        if may_read and not self.transport.is_closing() and not self.transport.is_reading():
            self.transport.resume_reading()

    @property
    def _is_stopped(self) -> bool:
        return self._paused is not None or self._is_full or self._is_held

    def _pause(self) -> None:
        if not self.transport.is_closing() and self.transport.is_reading():
            self.transport.pause_reading()
