"""librdkafka played by the test: functions that the compiled loops call as they would call the real ones."""

from __future__ import annotations

import ctypes
import shutil
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPILES = (
    bool(shutil.which("cc") or shutil.which("gcc"))
    and Path(sysconfig.get_path("include"), "Python.h").exists()
)
"""Whether the loops can be built here: where they can, they have to be there."""

QUEUE_FULL = -184
_DELIVERY, _LOG = 0x1, 0x4


@dataclass(frozen=True)
class Event:
    """A record, or with a code something else that comes in its place."""

    code: int = 0
    partition: int = 0
    offset: int = 0
    value: bytes | None = b""


class Record(ctypes.Structure):
    """rd_kafka_message_t"""

    _fields_ = [
        ("err", ctypes.c_int),
        ("topic", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("payload", ctypes.c_char_p),
        ("len", ctypes.c_size_t),
        ("key", ctypes.c_char_p),
        ("key_len", ctypes.c_size_t),
        ("offset", ctypes.c_int64),
        ("opaque", ctypes.c_void_p),
    ]


_POINTER, _INT, _I64, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_size_t
_EACH = ctypes.CFUNCTYPE(None, ctypes.POINTER(Record), _POINTER)
_CONSUME = ctypes.CFUNCTYPE(_INT, _POINTER, _INT, _POINTER, _POINTER)
_TIMESTAMP = ctypes.CFUNCTYPE(_I64, _POINTER, ctypes.POINTER(_INT))
_YIELD = ctypes.CFUNCTYPE(None, _POINTER)
_CLOCK = ctypes.CFUNCTYPE(_I64)
_PRODUCE = ctypes.CFUNCTYPE(_INT, _POINTER, ctypes.c_int32, _INT, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER)
_LAST_ERROR = ctypes.CFUNCTYPE(_INT)
_QUEUE_POLL = ctypes.CFUNCTYPE(_POINTER, _POINTER, _INT)
_EVENT_TYPE = ctypes.CFUNCTYPE(_INT, _POINTER)
_EVENT_MESSAGE = ctypes.CFUNCTYPE(_POINTER, _POINTER)
_EVENT_DESTROY = ctypes.CFUNCTYPE(None, _POINTER)
_EVENT_WORDS = ctypes.CFUNCTYPE(_POINTER, _POINTER)
_EVENT_LOG = ctypes.CFUNCTYPE(_INT, _POINTER, ctypes.POINTER(_POINTER), ctypes.POINTER(_POINTER), _POINTER)


def address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class PlayedClock:
    """Goes on by as much whenever it is read."""

    def __init__(self, at_ns: int, step_ns: int) -> None:
        self.at_ns, self._step_ns = at_ns, step_ns
        self._kept = _CLOCK(self.read)
        self.address = address(self._kept)

    def read(self) -> int:
        self.at_ns += self._step_ns
        return self.at_ns


class PlayedQueue:
    """Serves as librdkafka does: one after the other, until there are no more or the reader yields.

    A list among the events: what has come when it is asked for the next time, and no more.
    """

    def __init__(self, events: Iterable[Event | list[Event]]) -> None:
        self._events, self._is_enough = deque(events), False
        self.waits_ms: list[int] = []
        """How long it was to wait for the first, call by call."""
        self._kept = (_CONSUME(self._consume), _TIMESTAMP(self._timestamp), _YIELD(self._yield))
        self.consume, self.timestamp, self.enough = map(address, self._kept)

    def _consume(self, queue: int, timeout_ms: int, each: int, batch: int) -> int:
        served, self._is_enough = 0, False
        self.waits_ms.append(timeout_ms)
        now: deque[Any] = self._events
        if self._events and isinstance(first := self._events[0], list):
            self._events.popleft()
            now = deque(first)
        while now and not self._is_enough:
            event = now.popleft()
            record = Record(
                err=event.code,
                partition=event.partition,
                payload=event.value,
                len=len(event.value or b""),
                offset=event.offset,
            )
            _EACH(each)(ctypes.byref(record), batch)
            served += 1
        if now is not self._events and now:
            self._events.appendleft(list(now))
        return served

    def _timestamp(self, record: int, kind: Any) -> int:
        kind[0] = 1
        return 5

    def _yield(self, client: int) -> None:
        self._is_enough = True


class PlayedClient:
    """A producer's client: what it takes, refuses and tells is up to the test.

    `refuses(attempt)`: the code that an attempt to hand over is refused with, 0 for none. `fate(number)`: the
    code that message `number` (of those taken) is told with. `told_at_once(look)`: how many are told when it
    is asked.
    """

    queue, wake_fd = 1, -1

    def __init__(
        self,
        *,
        refuses: Callable[[int], int] = lambda attempt: 0,
        fate: Callable[[int], int] = lambda number: 0,
        told_at_once: Callable[[int], int] = lambda look: 1000,
        logs: Sequence[bytes] = (),
        clock: PlayedClock | None = None,
    ) -> None:
        self._refuses, self._fate, self._told_at_once = refuses, fate, told_at_once
        self.taken: list[tuple[int, int, bytes, bytes | None]] = []
        """Topic, partition, value and key."""
        self.topics: list[int] = []
        self.opened: list[str] = []
        self.flags: list[int] = []
        self.is_closed = False
        self.flushes = 0
        self._attempts = self._looks = self._told = self._last = 0
        self._logs = list(logs)
        self._events: dict[int, deque[Record]] = {}
        self._kept: list[Any] = []
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = [_POINTER]
        played = (
            _PRODUCE(self._produce),
            _LAST_ERROR(lambda: self._last),
            _QUEUE_POLL(self._poll),
            _EVENT_TYPE(lambda event: _DELIVERY if event in self._events else _LOG),
            _EVENT_MESSAGE(self._next),
            _EVENT_DESTROY(lambda event: self._events.pop(event, None) and None),
            _EVENT_WORDS(lambda event: None),
            _EVENT_LOG(self._log),
        )
        self._played, self._clock = played, clock
        self.functions = (*map(address, played), 0 if clock is None else clock.address)

    def open_topics(self, names: Iterable[str]) -> None:
        for name in names:
            self.opened.append(name)
            self.topics.append(1000 + len(self.topics))

    def waiting(self) -> int:
        return len(self.taken) - self._told

    def flush(self, timeout_ms: int) -> None:
        self.flushes += 1

    def close(self) -> None:
        self.is_closed = True

    def _produce(self, *given: Any) -> int:
        topic, partition, flags, value, size, key, key_size, opaque = given
        assert opaque is None, "what stands beside a message could be taken for somebody else's object"
        self._last = self._refuses(self._attempts)
        self._attempts += 1
        if self._last:
            return -1
        self.flags.append(flags)
        text = ctypes.string_at(value, size)
        if flags == 1:
            self._free(value)
        self.taken.append((topic, partition, text, ctypes.string_at(key, key_size) if key else None))
        return 0

    def _poll(self, queue: int, timeout_ms: int) -> int | None:
        self._looks += 1
        if self._logs:
            return 2
        count = min(self._told_at_once(self._looks), len(self.taken) - self._told)
        if count <= 0:
            return None
        event = 16 + self._looks
        self._events[event] = deque(map(self._report, range(self._told, self._told + count)))
        self._told += count
        return event

    def _report(self, number: int) -> Record:
        _, partition, value, key = self.taken[number]
        return Record(
            err=self._fate(number),
            partition=max(partition, 0),
            payload=value,
            len=len(value),
            key=key,
            key_len=len(key or b""),
            offset=10 * number,
        )

    def _next(self, event: int) -> int | None:
        if not self._events[event]:
            return None
        record = self._events[event].popleft()
        self._kept = [*self._kept[-4:], record]
        return ctypes.addressof(record)

    def _log(self, event: int, facility: Any, words: Any, level: int) -> int:
        text = ctypes.create_string_buffer(self._logs.pop(0))
        self._kept.append(text)
        facility[0], words[0] = ctypes.addressof(text), ctypes.addressof(text)
        ctypes.c_int.from_address(level).value = 3
        return 0
