"""A driver's producer and consumer, used as an agent uses them but for the stamps; for tests of drivers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamgauge.drivers.contract import (
    Acks,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.payload.making import Outgoing
from streamgauge.payload.messages import maker_of, sequence_at
from streamgauge.payload.ordinal import ordinals
from streamgauge.payload.reading import Packed
from streamgauge.spec.load import Message
from streamgauge.spec.topics import Topics

TAG = 4711
PATIENCE_S = 40.0
"""How long a test waits before it gives up."""


@dataclass
class Got:
    """All that a consumer received, as plain lists."""

    values: list[bytes] = field(default_factory=list)
    carried: list[bytes | None] = field(default_factory=list)
    topics: list[int] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    timestamp_kinds: set[int] = field(default_factory=set)

    def add(self, received: Received) -> None:
        count = len(received)
        assert count > 0, "a driver returns None rather than an empty batch"
        assert len(received.offsets) == len(received.timestamps_ms) == count
        values = received.values
        self.values += values.split() if isinstance(values, Packed) else values
        self.carried += received.carried or [None] * count
        self.topics += np.broadcast_to(received.topics, count).tolist()
        partitions = np.broadcast_to(received.partitions, count).tolist()
        self.places += list(zip(partitions, received.offsets.tolist(), strict=True))
        self.timestamp_kinds |= set(np.broadcast_to(received.timestamp_kind, count).tolist())

    def ordinals(self) -> list[int]:
        """What the keys say, where they are ordinals."""
        keys = [key for key in self.carried if key is not None]
        assert len(keys) == len(self.carried), "every message was sent with a key"
        return [int(ordinal) for ordinal in ordinals(keys)]


def patiently() -> Iterator[None]:
    """Try again until it is enough."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield


def produce_all(producer: Producer, left: Outgoing) -> list[Acks]:
    """Send everything, flush, and wait until the fate of all is known."""
    told = []
    for _ in patiently():
        if len(left):
            left = left.rest(producer.send(left, 0))
        else:
            producer.flush_soon()
        if (acks := producer.poll(0.1)) is not None:
            told.append(acks)
        if not len(left) and not producer.outstanding():
            return told
    raise AssertionError(f"{producer.outstanding()} messages are still outstanding")


def consume_all(consumer: Consumer, count: int) -> Got:
    got = Got()
    for _ in patiently():
        if (received := consumer.poll(0.1)) is not None:
            got.add(received)
        if len(got.values) >= count:
            break
    assert len(got.values) == count
    return got


class Wired:
    """A producer and a consumer on fresh topics, closed and removed afterwards."""

    def __init__(
        self,
        driver: Driver,
        names: tuple[str, ...],
        partitions: int,
        message: Message,
        *,
        transactional: bool = False,
        **options: Any,
    ) -> None:
        """`options`: of the producer."""
        self._transactional = transactional
        self._options = options | ({"transactional_id": f"id-{names[0]}"} if transactional else {})
        self._driver, self._names, self._partitions, self._message = driver, names, partitions, message
        self._maker = maker_of(message, TAG, producer=0)
        self._sent = 0
        self._acks: list[Acks] = []
        self.producer: Producer
        self.consumer: Consumer

    def __enter__(self) -> Wired:
        names, carrier = self._names, self._message.carrier
        self._driver.prepare_topics(Topics(name="x", partitions=self._partitions), names)
        places = tuple((t, p) for t in range(len(names)) for p in range(self._partitions))
        start = self._driver.end_offsets(names, self._partitions)
        self.consumer = self._driver.consumer(
            ConsumerOptions(0, names, carrier, places, None, start, transactions=self._transactional)
        )
        self.consumer.wait_ready(15)
        self.producer = self._driver.producer(
            ProducerOptions(
                0, names, carrier, "all", "none", sequence_at=sequence_at(self._message), **self._options
            )
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.producer.close()
        self.consumer.close()
        self._driver.remove_topics(list(self._names))

    def send(self, count: int, batch: int, topic: int = 0) -> None:
        last = self._sent + count
        while self._sent < last:
            outgoing: Outgoing = self._maker.make(self._sent, np.arange(min(batch, last - self._sent)))
            taken = 0
            for _ in patiently():
                step = self.producer.send(outgoing, topic)
                taken += step
                if step == len(outgoing):
                    break
                outgoing = outgoing.rest(step)
                self._poll(0.1)
            self._sent += taken
            assert self._sent <= last

    def collect_acks(self) -> list[Acks]:
        self.producer.flush_soon()
        for _ in patiently():
            if not self.producer.outstanding():
                break
            self._poll(0.1)
        assert self.producer.outstanding() == 0
        return self._acks

    def receive(self, count: int) -> Got:
        got, ends = Got(), self._driver.end_offsets(self._names, self._partitions)
        for _ in patiently():
            received = self.consumer.poll(0.1)
            if received is not None:
                got.add(received)
            elif self.consumer.caught_up(ends) and len(got.values) >= count:
                break
        assert len(got.values) == count
        return got

    def _poll(self, timeout_s: float) -> None:
        acks = self.producer.poll(timeout_s)
        if acks is not None:
            self._acks.append(acks)
