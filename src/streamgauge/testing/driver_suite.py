"""The suite that every driver passes. A test class inherits it, and gives `target`.

    from streamgauge.testing.driver_suite import DriverSuite

    class TestMine(DriverSuite):
        @pytest.fixture
        def target(self) -> Target:
            return Target(name="mine", driver="mine", settings={…})

The driver is found by its entry point, so it has to be installed (`pip install -e .`). What a driver's
capabilities do not promise is skipped, and said to be. It needs pytest: `pip install 'streamgauge[testing]'`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import numpy as np
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import UNKNOWN, ConsumerOptions, Driver, ProducerOptions
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.messages import reader_of
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.payload.reading import MessageReader
from streamgauge.spec.load import Keys, Message, ProtobufOrder
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import INTACT
from streamgauge.testing.wired import TAG, Wired, consume_all, produce_all


class DriverSuite:
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
            Message(size=8, keys=Keys(kind="round_robin", of=3)),
            Message(size=64, keys=Keys(kind="random", of=5), headers={"who": "me"}),
        ],
        ids=["in the value", "in the key", "in a record header", "in the value, with key and headers"],
    )
    def test_every_message_is_acked_once_and_received_once_and_whole(
        self, driver: Driver, topic: str, message: Message
    ) -> None:
        if not driver.capabilities.keyed and (message.carrier != "value" or message.keys.of):
            pytest.skip("this transport's messages have values only")
        if not driver.capabilities.record_headers and (message.carrier == "headers" or message.headers):
            pytest.skip("this transport's messages have no headers")
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
        message = Message(size=ProtobufOrder(protobuf="order"))
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
            assert got.ordinals() == list(range(first, 300))
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

    def test_nothing_of_a_transaction_that_was_aborted_arrives(self, driver: Driver, topic: str) -> None:
        if not driver.capabilities.transactional:
            pytest.skip("this transport has no transactions")
        with Wired(driver, (topic,), partitions=2, message=Message(size=64), transactional=True) as wired:
            for _ in range(20):
                # Aborted at once: what was sent last is on its way then.
                wired.send(30, batch=30)
                wired.producer.abort()
                wired.send(10, batch=10)
                wired.producer.commit()
            wired.collect_acks()
            assert len(wired.receive(200).values) == 200
            assert wired.consumer.poll(1.0) is None

    def test_settings_in_force_are_told(self, driver: Driver, topic: str) -> None:
        with Wired(driver, (topic,), partitions=1, message=Message(size=64)) as wired:
            assert isinstance(wired.producer.settings_in_force(), dict)
            assert isinstance(wired.consumer.settings_in_force(), dict)
