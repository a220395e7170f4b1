"""A subscription's maximum frequency: who may pass now, and what waits for its turn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Self

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.protocol.commands import Frequency, Mode
from streamgauge.gateway.protocol.events import Event


class Throttle(ABC):
    """Of one item of one subscription."""

    def __init__(self, interval_ns: int) -> None:
        self.interval_ns = interval_ns

    @abstractmethod
    def admits(self, event: Event, now_ns: int) -> bool:
        """Whether the event may go now; if not, it is kept, or stands in for one that was kept."""

    @abstractmethod
    def release(self, now_ns: int) -> list[Event]:
        """What was kept and may go now."""

    @abstractmethod
    def next_due_ns(self) -> int | None:
        """When there will be something to release; None: nothing is kept."""

    @abstractmethod
    def clear(self) -> None:
        """Drop what is kept."""

    @abstractmethod
    def kept_bytes(self) -> int: ...

    @abstractmethod
    def thin_out(self) -> None:
        """There is too little room: keep only what stands for the rest."""

    @abstractmethod
    def copy(self) -> Self: ...


class ItemThrottle(Throttle):
    """One event an interval; of those kept, the newest count. For MERGE and DISTINCT."""

    def __init__(self, interval_ns: int, kept: int | None) -> None:
        super().__init__(interval_ns)
        self._kept: deque[Event] = deque(maxlen=kept)
        self._due_ns = 0

    def admits(self, event: Event, now_ns: int) -> bool:
        if self._kept or now_ns < self._due_ns:
            self._kept.append(event)
            return False
        self._due_ns = now_ns + self.interval_ns
        return True

    def release(self, now_ns: int) -> list[Event]:
        if not self._kept or now_ns < self._due_ns:
            return []
        self._due_ns = now_ns + self.interval_ns
        return [self._kept.popleft()]

    def next_due_ns(self) -> int | None:
        return self._due_ns if self._kept else None

    def clear(self) -> None:
        self._kept.clear()

    def kept_bytes(self) -> int:
        return sum(event.size_bytes for event in self._kept)

    def thin_out(self) -> None:
        while len(self._kept) > 1:
            self._kept.popleft()

    def copy(self) -> Self:
        twin = type(self)(self.interval_ns, self._kept.maxlen)
        twin._kept, twin._due_ns = self._kept.copy(), self._due_ns
        return twin


class RowThrottle(Throttle):
    """One UPDATE a key and interval; additions and deletions are never kept. For COMMAND."""

    def __init__(self, interval_ns: int) -> None:
        super().__init__(interval_ns)
        self._kept: dict[str | None, Event] = {}
        self._due_ns: dict[str | None, int] = {}

    def admits(self, event: Event, now_ns: int) -> bool:
        key, command = event.values.get("key"), event.values.get("command")
        if command == "DELETE":
            self._kept.pop(key, None)
            self._due_ns.pop(key, None)
            return True
        if key in self._kept or now_ns < self._due_ns.get(key, 0):
            self._kept[key] = event
            return False
        self._due_ns[key] = now_ns + self.interval_ns
        return True

    def release(self, now_ns: int) -> list[Event]:
        due = [key for key in self._kept if self._due_ns[key] <= now_ns]
        for key in due:
            self._due_ns[key] = now_ns + self.interval_ns
        return [self._kept.pop(key) for key in due]

    def next_due_ns(self) -> int | None:
        return min((self._due_ns[key] for key in self._kept), default=None)

    def clear(self) -> None:
        self._kept.clear()
        self._due_ns.clear()

    def kept_bytes(self) -> int:
        return sum(event.size_bytes for event in self._kept.values())

    def thin_out(self) -> None:
        """Only the newest of a row was ever kept."""

    def copy(self) -> Self:
        twin = type(self)(self.interval_ns)
        twin._kept, twin._due_ns = self._kept.copy(), self._due_ns.copy()
        return twin


def new_throttle(
    mode: Mode, frequency: Frequency, buffer_size: int | None, most_kept: int
) -> Throttle | None:
    """None: nothing is held back. `most_kept`: how many events may wait where the client sets no limit."""
    if frequency.per_s is None or mode == "RAW":
        return None
    interval_ns = round(NS_PER_S / frequency.per_s)
    if mode == "COMMAND":
        return RowThrottle(interval_ns)
    return ItemThrottle(interval_ns, most_kept if buffer_size is None else min(buffer_size, most_kept))
