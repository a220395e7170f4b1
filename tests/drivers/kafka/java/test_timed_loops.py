from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import (
    Bursts,
    JvmDriver,
    TimedConsumer,
    TimedProducer,
    Values,
    Work,
    jvm_driver,
)
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.testing.wired import consume_all, produce_all

pytestmark = pytest.mark.broker

VALUES = [bytes([number]) * 10 for number in range(7)]


@pytest.fixture
def driver(kafka: str) -> JvmDriver:
    settings = {"bootstrap": kafka, "linger_ms": 0}
    return jvm_driver(open_driver(Target(name="j", driver="kafka_java", settings=settings), {}))


@pytest.fixture
def topic(driver: JvmDriver) -> Iterator[str]:
    name = f"engine-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=2), (name,))
    yield name
    driver.remove_topics([name])


@pytest.fixture
def values(driver: JvmDriver) -> Values:
    return driver.load(VALUES)


@pytest.fixture
def producer(driver: JvmDriver, topic: str) -> Iterator[TimedProducer]:
    producer = driver.timed_producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
    yield producer
    producer.close()


@pytest.fixture
def consumer(driver: JvmDriver, topic: str) -> Iterator[TimedConsumer]:
    consumer = driver.timed_consumer(ConsumerOptions(0, (topic,), "ordinal", (), None, {}))
    yield consumer
    consumer.close()


BEGIN = {(0, 0): 0, (0, 1): 0}


def test_what_is_produced_is_what_a_driver_reads(
    driver: JvmDriver, topic: str, producer: TimedProducer, values: Values
) -> None:
    produced = producer.produce(Work(values, 100, deadline_s=30, first_ordinal=5))
    assert (produced.acked, produced.failed, produced.first_error, produced.paused_ns) == (100, 0, None, 0)
    assert produced.elapsed_ns > 0
    reader = driver.consumer(ConsumerOptions(0, (topic,), "ordinal", tuple(BEGIN), None, {}))
    got = consume_all(reader, 100)
    reader.close()
    found = dict(zip(got.ordinals(), got.values, strict=True))
    assert found == {ordinal: VALUES[ordinal % 7] for ordinal in range(5, 105)}


def test_what_a_driver_sends_is_consumed_and_checked(
    driver: JvmDriver, topic: str, consumer: TimedConsumer, values: Values
) -> None:
    sender = driver.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
    sent = [VALUES[n % 7] for n in range(50)]
    sent[8] = b"damaged"
    produce_all(sender, Outgoing(0, sent, ordinal_keys(0, 50), None))
    produce_all(sender, Outgoing(3, VALUES[3:4], ordinal_keys(3, 1), None))
    sender.close()
    for checked, wrong, repeated in ((True, 1, 1), (False, 0, 0)):
        consumed = consumer.consume(Work(values, 51, deadline_s=30), start=BEGIN, checked=checked)
        assert (consumed.received, consumed.wrong, consumed.repeated) == (51, wrong, repeated)
        assert consumed.elapsed_ns > 0


def test_a_deadline_ends_it(consumer: TimedConsumer, producer: TimedProducer, values: Values) -> None:
    producer.produce(Work(values, 10, deadline_s=30))
    consumed = consumer.consume(Work(values, 11, deadline_s=1.5), start=BEGIN)
    assert consumed.received == 10
    assert consumed.elapsed_ns >= 1.5e9
    assert producer.produce(Work(values, 1000, deadline_s=0)).acked <= 1


def test_bursts_pause_between_them(producer: TimedProducer, values: Values) -> None:
    produced = producer.produce(Work(values, 9, deadline_s=30, bursts=Bursts(length=3, interval_ms=20)))
    assert produced.acked == 9
    assert 40e6 <= produced.paused_ns < produced.elapsed_ns


def test_pauses_do_not_use_up_the_time_that_a_loop_may_take(producer: TimedProducer, values: Values) -> None:
    producer.produce(Work(values, 10, deadline_s=30))
    bursts = Bursts(length=1, interval_ms=300)
    assert producer.produce(Work(values, 10, deadline_s=1.5, bursts=bursts)).acked == 10


def test_failures_are_counted_and_the_first_is_told(driver: JvmDriver, producer: TimedProducer) -> None:
    produced = producer.produce(Work(driver.load([b"x", b"y" * 3_000_000]), 4, deadline_s=30))
    assert (produced.acked, produced.failed) == (2, 2)
    assert "3000" in (produced.first_error or "")


def test_round_trips_come_back_one_by_one(
    driver: JvmDriver,
    topic: str,
    producer: TimedProducer,
    consumer: TimedConsumer,
    values: Values,
) -> None:
    producer.produce(Work(values, 20, deadline_s=30))
    ends = driver.end_offsets((topic,), 2)
    trips = consumer.round_trips(producer, Work(values, 15, deadline_s=30), start=ends)
    assert len(trips.trip_ns) == 15
    assert trips.missing == 0
    assert (trips.trip_ns > 0).all()
    assert sum(driver.end_offsets((topic,), 2).values()) == 35


def test_a_loop_crosses_twice_however_long_it_is(producer: TimedProducer, values: Values) -> None:
    before = producer.counters()["crossings"]
    producer.produce(Work(values, 1000, deadline_s=30))
    assert producer.counters()["crossings"] - before == 2


def test_settings_are_those_of_the_driver(producer: TimedProducer, consumer: TimedConsumer) -> None:
    assert {s.name: s.value for s in producer.shared_settings()}["linger_ms"] == 0
    assert producer.settings_in_force()["key.serializer"].endswith("IntegerSerializer")
    assert {s.name: s.value for s in consumer.shared_settings()}["fetch_min_bytes"] == 1


def test_what_it_cannot_do_is_refused(driver: JvmDriver, topic: str) -> None:
    with pytest.raises(BadInput, match="carrier must be ordinal, not value"):
        driver.timed_producer(ProducerOptions(0, (topic,), "value", "all", "none"))
    with pytest.raises(BadInput, match="without partitions"):
        driver.timed_consumer(ConsumerOptions(0, (topic,), "ordinal", ((0, 0),), None, {}))
    with pytest.raises(BadInput, match="at least one value"):
        driver.load([])
