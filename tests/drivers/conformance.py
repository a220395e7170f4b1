"""The suite that every driver passes. A driver's test class inherits it and gives `target`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.messages import maker_of, reader_of, sequence_at
from streamgauge.payload.ordinal import ordinal_keys, ordinals
from streamgauge.payload.reading import MessageReader, Packed
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import INTACT

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


class DriverConformance:
    """Inherit, and override `target`."""

    @pytest.fixture
    def target(self) -> Target:
        raise NotImplementedError

    @pytest.fixture
    def topic(self) -> str:
        return f"conformance-{uuid.uuid4().hex[:8]}"

    @pytest.fixture
    def driver(self, target: Target) -> Iterator[Driver]:
        driver = open_driver(target, {})
        yield driver
        driver.close()

    def test_it_can_be_reached_and_says_what_answered(self, driver: Driver) -> None:
        assert driver.check_reachable(15)

    def test_an_unknown_setting_is_refused_by_name(self, target: Target) -> None:
        wrong = target.model_copy(update={"settings": {**target.settings, "no_such_setting": 1}})
        with pytest.raises(BadInput, match=r"no_such_setting: unknown field"):
            driver_class(wrong)

    def test_topics_are_made_once_and_removed(self, driver: Driver, topic: str) -> None:
        topics = Topics(name=topic, partitions=2)
        assert driver.prepare_topics(topics, (topic,)) == [topic]
        assert driver.end_offsets((topic,), 2) == {(0, 0): 0, (0, 1): 0}
        driver.remove_topics([topic])

    @pytest.mark.parametrize(
        "message",
        [
            Message(size=100),
            Message(size=0),
            Message(size=8, keys={"kind": "round_robin", "of": 3}),
            Message(size=64, keys={"kind": "random", "of": 5}, headers={"who": "me"}),
        ],
        ids=["in the value", "in the key", "in a record header", "in the value, with key and headers"],
    )
    def test_every_message_is_acked_once_and_received_once_and_whole(
        self, driver: Driver, topic: str, message: Message
    ) -> None:
        if not driver.capabilities.keyed and (message.carrier != "value" or message.keys.of):
            pytest.skip("this transport's messages have values only")
        with Wired(driver, (topic,), partitions=2, message=message) as wired:
            wired.send(1500, batch=500)
            acks = wired.collect_acks()
            got = wired.receive(1500)
        assert sorted(np.concatenate([a.sequences for a in acks]).tolist()) == list(range(1500))
        assert not any(a.errors for a in acks)
        found = MessageReader(message.carrier, TAG).read(
            got.values, None if message.carrier == "value" else got.carried
        )
        assert set(found.state.tolist()) == {INTACT}
        assert sorted(found.sequence.tolist()) == list(range(1500))

    def test_acks_name_the_place_where_consumers_find_the_message(self, driver: Driver, topic: str) -> None:
        """The partition at least."""
        with Wired(driver, (topic,), partitions=2, message=Message(size=64)) as wired:
            wired.send(300, batch=100)
            acks = wired.collect_acks()
            got = wired.receive(300)
        said = {
            int(sequence): (int(partition), int(offset))
            for a in acks
            for sequence, partition, offset in zip(
                a.sequences, np.broadcast_to(a.partitions, len(a)), a.offsets, strict=True
            )
        }
        found = MessageReader("value", TAG).read(got.values, None)
        places = dict(zip(found.sequence.tolist(), got.places, strict=True))
        if not driver.capabilities.acks_name_offsets:
            places = {sequence: (partition, UNKNOWN) for sequence, (partition, _) in places.items()}
        assert said == places

    def test_orders_are_acked_received_and_whole(self, driver: Driver, topic: str) -> None:
        message = Message(size={"protobuf": "order"})
        with Wired(driver, (topic,), partitions=1, message=message) as wired:
            wired.send(1500, batch=500)
            acks = wired.collect_acks()
            got = wired.receive(1500)
        assert sorted(np.concatenate([a.sequences for a in acks]).tolist()) == list(range(1500))
        found = reader_of(message, TAG, wired.consumer.clock).read(got.values, None)
        assert set(found.state.tolist()) == {INTACT}
        assert sorted(found.sequence.tolist()) == list(range(1500))

    def test_order_holds_within_a_partition(self, driver: Driver, topic: str) -> None:
        if not driver.capabilities.ordered:
            pytest.skip("this transport promises no order")
        with Wired(driver, (topic,), partitions=3, message=Message(size=64)) as wired:
            wired.send(900, batch=90)
            wired.collect_acks()
            got = wired.receive(900)
        sequences = MessageReader("value", TAG).read(got.values, None).sequence.tolist()
        for partition in range(3):
            mine = [s for s, (p, _) in zip(sequences, got.places, strict=True) if p == partition]
            assert mine == sorted(mine)

    def test_topics_are_told_apart(self, driver: Driver, topic: str) -> None:
        names = (f"{topic}-0", f"{topic}-1")
        with Wired(driver, names, partitions=1, message=Message(size=64)) as wired:
            wired.send(100, batch=50, topic=0)
            wired.send(100, batch=50, topic=1)
            wired.collect_acks()
            got = wired.receive(200)
        assert sorted(got.topics) == [0] * 100 + [1] * 100
        sequences = MessageReader("value", TAG).read(got.values, None).sequence.tolist()
        assert all((s >= 100) == bool(t) for s, t in zip(sequences, got.topics, strict=True))

    def test_a_consumer_that_is_not_there_yet_is_not_caught_up(self, driver: Driver, topic: str) -> None:
        with Wired(driver, (topic,), partitions=1, message=Message(size=64)) as wired:
            wired.send(50, batch=50)
            wired.collect_acks()
            ends = driver.end_offsets((topic,), 1)
            assert not wired.consumer.caught_up(ends)
            wired.receive(50)
            wired.consumer.poll(0.1)
            assert wired.consumer.caught_up(ends)

    def test_a_loop_without_message_headers(self, driver: Driver, topic: str) -> None:
        """Keys are ordinals, values are free; read twice, from the start and from the middle."""
        if not (driver.capabilities.keyed and driver.capabilities.replayable):
            pytest.skip("this transport has no keys, or nothing can be read twice")
        driver.prepare_topics(Topics(name=topic), (topic,))
        values = [bytes([number % 251]) * 10 for number in range(300)]
        producer = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
        consumer = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", (), None, {}))
        told = produce_all(producer, Outgoing(0, values, ordinal_keys(0, 300), None))
        assert sorted(np.concatenate([acks.sequences for acks in told]).tolist()) == list(range(300))
        places = sorted(int(offset) for acks in told for offset in acks.offsets)
        for first in (0, 200):
            consumer.assign({(0, 0): places[first]})
            got = consume_all(consumer, 300 - first)
            assert ordinals(got.carried).tolist() == list(range(first, 300))
            assert got.values == values[first:]
        producer.close()
        consumer.close()
        driver.remove_topics([topic])

    def test_counters_are_numbers_by_name(self, driver: Driver, topic: str) -> None:
        with Wired(driver, (topic,), partitions=1, message=Message(size=64)) as wired:
            wired.send(10, batch=10)
            wired.collect_acks()
            wired.receive(10)
            for counters in (wired.producer.counters(), wired.consumer.counters()):
                assert all(isinstance(count, int) and count > 0 for count in counters.values())

    def test_a_producer_bound_to_a_partition_sends_everything_there(self, driver: Driver, topic: str) -> None:
        if not driver.capabilities.placed:
            pytest.skip("this transport's producers cannot be bound to a partition")
        names = (f"{topic}-0", f"{topic}-1")
        with Wired(driver, names, partitions=3, message=Message(size=64), place=(1, 2)) as wired:
            wired.send(300, batch=100, topic=1)
            acks = wired.collect_acks()
            got = wired.receive(300)
        assert set(got.topics) == {1}
        assert {partition for partition, _ in got.places} == {2}
        for told in acks:
            assert set(np.broadcast_to(told.partitions, len(told)).tolist()) == {2}

    @pytest.mark.parametrize("size", [64, 8], ids=["in the value", "in the key"])
    def test_without_completions_messages_arrive_and_nothing_is_told(
        self, driver: Driver, topic: str, size: int
    ) -> None:
        if not driver.capabilities.unreported:
            pytest.skip("this transport's producers are always told")
        if size == 8 and not driver.capabilities.keyed:
            pytest.skip("this transport's messages have values only")
        with Wired(driver, (topic,), partitions=2, message=Message(size=size), completions=False) as wired:
            wired.send(1000, batch=250)
            assert wired.collect_acks() == []
            got = wired.receive(1000)
        assert len(got.values) == 1000

    def test_messages_of_a_transaction_arrive_when_it_is_committed(self, driver: Driver, topic: str) -> None:
        if not driver.capabilities.transactional:
            pytest.skip("this transport has no transactions")
        with Wired(driver, (topic,), partitions=2, message=Message(size=64), transactional=True) as wired:
            wired.send(100, batch=50)
            wired.collect_acks()
            assert wired.consumer.poll(1.0) is None, "nothing of it can be seen yet"
            wired.producer.commit()
            wired.send(50, batch=50)
            wired.producer.commit()
            wired.collect_acks()
            assert len(wired.receive(150).values) == 150

    def test_settings_in_force_are_told(self, driver: Driver, topic: str) -> None:
        with Wired(driver, (topic,), partitions=1, message=Message(size=64)) as wired:
            assert isinstance(wired.producer.settings_in_force(), dict)
            assert isinstance(wired.consumer.settings_in_force(), dict)


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
