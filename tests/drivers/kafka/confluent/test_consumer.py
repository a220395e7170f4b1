"""What is no record, told to both readers: librdkafka's queue is played by the test, the rest is real."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from confluent_kafka import KafkaError, Message

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import ConsumerOptions
from streamgauge.drivers.kafka.confluent import batches
from streamgauge.drivers.kafka.confluent.consumer import RdkafkaConsumer
from streamgauge.drivers.kafka.confluent.trouble import PASSING
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.reading import Packed
from streamgauge.tables.events import RECEIVES
from tests.drivers.kafka.confluent.test_driver import kafka_target
from tests.drivers.kafka.confluent.test_trouble import LASTING
from tests.native.played_librdkafka import Event, PlayedQueue

TOPIC = "orders"


class NativeQueue(PlayedQueue):
    def feed(self, consumer: RdkafkaConsumer) -> None:
        assert consumer._batches is not None
        consumer._batches._consume = self.consume
        consumer._batches._batch = consumer._batches._loops.batch(self.timestamp, self.enough)


class ObjectQueue:
    """As confluent-kafka's consumer hands them out."""

    def __init__(self, events: list[Event]) -> None:
        self._events = deque(map(self._message, events))

    def feed(self, consumer: RdkafkaConsumer) -> None:
        consumer._consumer.close()
        consumer._consumer = self

    @staticmethod
    def _message(event: Event) -> Message:
        place = {"topic": TOPIC, "partition": event.partition, "offset": event.offset}
        if event.code:
            return Message(error=KafkaError(event.code), **place)
        return Message(value=event.value, timestamp=(1, 5), **place)

    def poll(self, timeout_s: float) -> Message | None:
        return self._events.popleft() if self._events else None

    def consume(self, most: int, timeout_s: float) -> list[Message]:
        return [self._events.popleft() for _ in range(min(most, len(self._events)))]

    def close(self) -> None: ...


Told = Callable[[list[Event]], RdkafkaConsumer]


@pytest.fixture(params=["batches", "objects"])
def told(request: pytest.FixtureRequest) -> Iterator[Told]:
    """A consumer that is told these events."""
    if request.param == "batches" and not batches.available():
        pytest.skip("the compiled part is not there")
    made: list[Any] = []

    def tell(events: list[Event]) -> RdkafkaConsumer:
        driver = open_driver(kafka_target("127.0.0.1:1", request.param), {})
        consumer = driver.consumer(ConsumerOptions(0, (TOPIC,), "value", (), None, {}))
        assert isinstance(consumer, RdkafkaConsumer)
        queue = (NativeQueue if request.param == "batches" else ObjectQueue)(events)
        queue.feed(consumer)
        made.extend((queue, consumer))
        return consumer

    yield tell
    for consumer in made[1::2]:
        consumer.close()


def received(consumer: RdkafkaConsumer, polls: int) -> list[bytes]:
    values: list[bytes] = []
    for _ in range(polls):
        if (batch := consumer.poll(0.01)) is not None:
            values += batch.values.split() if isinstance(batch.values, Packed) else batch.values
    return values


@pytest.mark.parametrize("code", sorted(PASSING))
def test_what_passes_costs_no_record_before_or_behind_it(told: Told, code: int) -> None:
    events = [Event(value=b"one"), Event(code), Event(offset=1, value=b"two")]
    assert received(told(events), 3) == [b"one", b"two"]


@pytest.mark.parametrize("code", LASTING)
def test_what_lasts_ends_the_case(told: Told, code: int) -> None:
    with pytest.raises(CaseFailed, match="the consumer cannot go on"):
        received(told([Event(code), Event(value=b"one")]), 3)


def test_trouble_that_lasts_is_heard_behind_much_that_passes(told: Told) -> None:
    passing = [Event(KafkaError.REQUEST_TIMED_OUT)] * 100
    consumer = told([*passing, Event(value=b"one"), *passing, Event(KafkaError.TOPIC_AUTHORIZATION_FAILED)])
    with pytest.raises(CaseFailed, match="the consumer cannot go on"):
        received(consumer, 50)


def test_the_end_of_every_partition_is_heard(told: Told) -> None:
    ends = [Event(KafkaError._PARTITION_EOF, number, 7) for number in range(100)]
    consumer = told(ends)
    if consumer._batches is not None:
        # Without a topic's handle, which only librdkafka has, a trouble is of no topic.
        consumer._batches._topic_name = lambda handle: TOPIC  # type: ignore[method-assign]
    received(consumer, 20)
    assert consumer._ends == {(0, number): 7 for number in range(100)}


@pytest.mark.skipif(not batches.available(), reason="the compiled part is not there")
def test_it_is_not_closed_while_its_records_are_read_nor_read_afterwards() -> None:
    driver = open_driver(kafka_target("127.0.0.1:1"), {})
    consumer = driver.consumer(ConsumerOptions(0, (TOPIC,), "value", (), None, {}))
    assert isinstance(consumer, RdkafkaConsumer)
    reader, queue = consumer.column_reader(7), consumer._batches
    assert reader is not None
    assert queue is not None
    rows = {c.name: np.zeros(10, getattr(np, c.kind)) for c in RECEIVES.columns}
    read: list[int] = []
    reading = threading.Thread(target=lambda: read.append(reader.read(rows, 0.5)))
    reading.start()
    while not queue._using.locked() and reading.is_alive():
        pass
    consumer.close()
    reading.join(10)
    assert read == [0], "closing waited for who read"
    for use in (lambda: queue.take(0), lambda: queue.take_rows(queue.rows(7), rows, 0)):
        with pytest.raises(CaseFailed, match="was closed while it was read from"):
            use()
