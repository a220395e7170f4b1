"""Scheduled loops of the engine `jvm`: orders are sent and received by Java threads in this process.

Python says when to begin, and fetches rows many at a time. The loops are the same for all drivers; see
`engine`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import Clock
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.contract import Acks, ClientFacts, ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import JvmDriver

_RING_ROWS = 1 << 17
_COLUMNS = 7
_LOOK_S = 0.01
_PARTITION = 0


@dataclass
class Rows:
    """Messages received, one row each."""

    received_ns: NDArray[np.int64]
    owners: NDArray[np.uint64]
    sequences: NDArray[np.int64]
    intended_ns: NDArray[np.int64]
    offsets: NDArray[np.int64]
    broker_ms: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    broker_time: NDArray[np.int8]
    state: NDArray[np.int8]


class OrderSender(ClientFacts):
    """One producer; the loop in Java writes to columns that Python reads."""

    def __init__(self, driver: JvmDriver, options: ProducerOptions, tag: int, total: int) -> None:
        from streamgauge.drivers.transports_java import java_class, opened, shared_memory

        driver.start_java()
        self._who, self._facts = f"producer {options.number}", driver.loop_facts(options)
        self._alert_ns = driver.alert_ns
        self._sender = java_class("OrderSender")(_java_orders(tag, options.number))
        shared = [shared_memory(8 * total) for _ in range(3)]
        self._sent_ns, self._acked_ns, self._places = (memory.view(np.int64) for memory, _ in shared)
        self._sender.setColumns(*(java for _, java in shared))
        self._sender.connect(driver.outlet(options, self._sender))
        self._told = 0
        self._probes = 0
        opened(self)

    def probe(self) -> None:
        """Send a message that nobody counts."""
        self._probes += 1
        self._sender.probe(-self._probes)

    def probes_settled(self) -> bool:
        return bool(self._sender.probesSettled())

    def begin(self, start_ns: int, per_s: float, total: int, end_ns: int) -> None:
        self._sender.begin(start_ns, per_s, total, end_ns, self._alert_ns)

    def end_at(self, total: int) -> None:
        """While it goes on: it is so many messages in all."""
        self._sender.endAt(total)

    @property
    def size_bytes(self) -> int:
        return int(self._sender.size())

    def sent(self) -> int:
        return int(self._sender.sent())

    def sent_ns(self, first: int, count: int) -> NDArray[np.int64]:
        return self._sent_ns[first : first + count]

    def take_acks(self, sent: int) -> tuple[Acks, NDArray[np.int64]] | None:
        """Acks of the next messages in order, up to the first that has none, and their times."""
        waiting = self._acked_ns[self._told : sent]
        unknown = np.flatnonzero(waiting == 0)
        count = int(unknown[0]) if len(unknown) else len(waiting)
        if not count:
            return None
        first, self._told = self._told, self._told + count
        times = waiting[:count].copy()
        errors = {}
        if self._sender.failedCount():
            why = str(self._sender.firstError())
            errors = {first + int(row): why for row in np.flatnonzero(times < 0)}
        acks = Acks(
            np.arange(first, first + count), _PARTITION, self._places[first : first + count].copy(), errors
        )
        return acks, np.abs(times)

    def is_done(self) -> bool:
        """Nothing more will be sent."""
        if (failure := self._sender.failure()) is not None:
            raise CaseFailed(f"{self._who} cannot go on: {failure}")
        return bool(self._sender.isDone())

    def outstanding(self) -> int:
        return self.sent() - self._told

    def stop(self) -> None:
        self._sender.stop()

    def settings_in_force(self) -> dict[str, Any]:
        return self._facts

    def close(self) -> None:
        from streamgauge.drivers.transports_java import CLOSE_MS, closed

        closed(self)
        self._sender.close(CLOSE_MS)


class OrderReceiver(ClientFacts):
    """One consumer; it receives from when it is made."""

    clock = Clock()

    def __init__(self, driver: JvmDriver, options: ConsumerOptions, tag: int) -> None:
        from streamgauge.drivers.transports_java import java_class, opened, shared_memory

        driver.start_java()
        self._who, self._facts = f"consumer {options.number}", driver.loop_facts(options)
        orders = _java_orders(tag, 0)
        idling = java_class("Idling")(driver.idle)
        self._receiver = java_class("OrderReceiver")(orders, driver.inlet(options), idling)
        memory, java_memory = shared_memory(8 * _COLUMNS * _RING_ROWS)
        self._ring = memory.view(np.int64).reshape(_COLUMNS, _RING_ROWS)
        self._receiver.begin(java_memory)
        opened(self)

    def wait_ready(self, deadline_s: float) -> None:
        deadline = time.monotonic() + deadline_s
        while not self._receiver.isReady():
            self._check()
            if time.monotonic() > deadline:
                raise Unreachable(f"{self._who} could not begin to receive within {deadline_s:g} s")
            time.sleep(_LOOK_S)

    def probes(self) -> int:
        self._check()
        return int(self._receiver.probes())

    def poll(self, timeout_s: float) -> Rows | None:
        """What has come, after as long as `timeout_s` when there is nothing."""
        deadline = time.monotonic() + timeout_s
        while not (count := int(self._receiver.available())):
            self._check()
            if time.monotonic() >= deadline:
                return None
            time.sleep(_LOOK_S)
        first = int(self._receiver.oldest())
        found = self._ring[:, first : first + count].copy()
        self._receiver.free(count)
        packed = found[6]
        return Rows(
            received_ns=found[0],
            owners=found[1].view(np.uint64),
            sequences=found[2],
            intended_ns=found[3],
            offsets=found[4],
            broker_ms=found[5],
            size_bytes=packed >> 16,
            broker_time=(packed >> 8 & 0xFF).astype(np.int8),
            state=(packed & 0xFF).astype(np.int8),
        )

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if int(self._receiver.available()):
            return False
        return int(self._receiver.position()) >= ends.get((0, _PARTITION), 0)

    def _check(self) -> None:
        if (failure := self._receiver.failure()) is not None:
            raise CaseFailed(f"{self._who} cannot go on: {failure}")

    def settings_in_force(self) -> dict[str, Any]:
        return self._facts

    def close(self) -> None:
        from streamgauge.drivers.transports_java import CLOSE_MS, closed

        closed(self)
        self._receiver.close(CLOSE_MS)


def _java_orders(tag: int, producer: int) -> Any:
    import jpype

    from streamgauge.drivers.transports_java import java_class
    from streamgauge.payload.checksum import weights
    from streamgauge.payload.orders import ORDER_WORDS, OrderPool, length_sum, owner_word

    def longs(values: Any) -> Any:
        return jpype.JArray(jpype.JLong)(np.asarray(values).astype(np.uint64).view(np.int64).tolist())

    pool = OrderPool.of(tag, producer)
    [owner, length] = (
        np.array([owner_word(tag, producer), int(length_sum())], np.uint64).view(np.int64).tolist()
    )
    return java_class("Orders")(
        owner,
        longs(weights(ORDER_WORDS)),
        length,
        pool.instruments,
        jpype.JArray(jpype.JInt)(pool.sides),
        longs(pool.prices),
        jpype.JArray(jpype.JInt)(pool.quantities),
        pool.accounts,
    )
