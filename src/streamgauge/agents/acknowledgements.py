"""Collecting acks while a producer waits for the next message to be due.

At low rates a thread of its own waits for acks, so that each is stamped when it comes, while the
producer sleeps. At high rates that thread would fight for the interpreter with the one that sends;
there the producer looks for acks itself, between two batches, which is often enough.
"""

from __future__ import annotations

import threading
from typing import Protocol

from streamgauge.core.clock import NS_PER_S, sharpen_sleep
from streamgauge.drivers.contract import Acks, Producer
from streamgauge.recording.columns import SendColumns

THREAD_BELOW_PER_S = 10_000.0
_THREAD_POLL_S = 0.1
_LEAST_WAIT_NS = 1_000_000
"""Client libraries wait in whole milliseconds."""


class AckCollector(Protocol):
    def look(self) -> None:
        """Record what is there, without waiting."""

    def wait_until(self, due_ns: int) -> None:
        """Pass the time until then."""

    def close(self) -> None: ...


class InlineAcks:
    """Looks for acks in the producer's own thread."""

    def __init__(self, producer: Producer, columns: SendColumns) -> None:
        self._producer, self._columns, self._clock = producer, columns, producer.clock
        self.is_paused = False
        """Nobody is to call the producer now."""

    def look(self) -> None:
        if self.is_paused:
            return
        self._add(self._producer.poll(0))

    def _add(self, acks: Acks | None) -> None:
        if acks is not None:
            self._columns.add_acks(acks, self._clock.now_ns() if acks.told_ns is None else acks.told_ns)

    def wait_until(self, due_ns: int) -> None:
        if self.is_paused:
            self._clock.sleep_until(due_ns)
        while (left := due_ns - self._clock.now_ns()) > 0:
            if self._producer.outstanding() == 0 or left < _LEAST_WAIT_NS:
                self.look()
                self._clock.sleep_until(due_ns)
                return
            self._add(self._producer.poll(left / NS_PER_S))

    def close(self) -> None:
        self.look()


class ThreadedAcks:
    """Waits for acks in a thread of its own."""

    def __init__(self, producer: Producer, columns: SendColumns) -> None:
        self._producer, self._columns, self._clock = producer, columns, producer.clock
        self._closing = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="acks", daemon=True)
        self._thread.start()

    def look(self) -> None:
        if self._failure is not None:
            raise self._failure

    def wait_until(self, due_ns: int) -> None:
        self.look()
        self._clock.sleep_until(due_ns)

    def close(self) -> None:
        self._closing = True
        self._thread.join(10 * _THREAD_POLL_S + 5)
        self.look()

    def _run(self) -> None:
        sharpen_sleep()
        try:
            while not self._closing:
                acks = self._producer.poll(_THREAD_POLL_S)
                if acks is not None:
                    self._columns.add_acks(acks, self._clock.now_ns())
        except Exception as error:  # raised in the producer's thread instead
            self._failure = error
