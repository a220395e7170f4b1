"""kafka_java: whole batches across JNI against record by record, in one process, in turn."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.ratio import Ratio, in_pairs
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Driver, Producer, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinal_keys
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

SIZE = 10
_BATCH = 1000
_DEADLINE_S = 120.0


class CrossingBench:
    """One broker, one partition, messages of 10 bytes with a key each; all of them acked, all received."""

    def __init__(self, bootstrap: str, messages: int, pairs: int) -> None:
        self._bootstrap, self._pairs = bootstrap, pairs
        self._messages = -(-messages // _BATCH) * _BATCH
        self._batches = [
            Outgoing(first, [b"x" * SIZE] * _BATCH, ordinal_keys(first, _BATCH), None)
            for first in range(0, self._messages, _BATCH)
        ]

    def produce(self) -> Ratio:
        ratio = Ratio(f"send {SIZE} B: batches against record by record", "≥ 4")
        return in_pairs(
            self._pairs, ratio, lambda topic: self._sent("batch", topic), lambda t: self._sent("record", t)
        )

    def consume(self) -> Ratio:
        ratio = Ratio(f"receive {SIZE} B: batches against record by record", "stated")
        with self._topic("batch", f"bench-{uuid.uuid4().hex[:8]}") as (driver, topic):
            self._produce(driver, topic)
            return in_pairs(
                self._pairs,
                ratio,
                lambda _: self._received("batch", topic),
                lambda _: self._received("record", topic),
            )

    def calls_per_message(self) -> str:
        """Counted apart, since counting takes time."""
        found = [f"{crossing} {self._calls(crossing)}" for crossing in ("batch", "record")]
        return f"JNI calls a message: {'; '.join(found)}"

    def _calls(self, crossing: str) -> str:
        name = f"bench-{uuid.uuid4().hex[:8]}"
        with self._topic(crossing, name, count_jni_calls=True) as (driver, topic):
            producer = driver.producer(_producing(topic))
            _send_all(producer, self._batches)
            sent = producer.counters()
            producer.close()
            consumer = driver.consumer(_consuming(topic))
            _receive_all(consumer, self._messages)
            received = consumer.counters()
            consumer.close()
        if "jni_calls" not in sent:
            return "cannot be counted on this machine"
        to_send, to_receive = (counted["jni_calls"] / self._messages for counted in (sent, received))
        return f"{to_send:.2f} to send, {to_receive:.2f} to receive"

    def _sent(self, crossing: str, name: str) -> float:
        """Messages a second, of a producer's second loop: in the first one Java still compiles."""
        with self._topic(crossing, name) as (driver, topic):
            return self._messages / self._produce(driver, topic)

    def _produce(self, driver: Driver, topic: str) -> float:
        producer = driver.producer(_producing(topic))
        try:
            _send_all(producer, self._batches)
            return _send_all(producer, self._batches)
        finally:
            producer.close()

    def _received(self, crossing: str, topic: str) -> float:
        consumer = self._driver(crossing).consumer(_consuming(topic))
        try:
            _receive_all(consumer, self._messages)
            return self._messages / _receive_all(consumer, self._messages)
        finally:
            consumer.close()

    def _driver(self, crossing: str, **settings: Any) -> Driver:
        # A fetch at the end of the partition is answered at once: else a second assignment waits for it.
        everything = {"bootstrap": self._bootstrap, "crossing": crossing, "fetch_max_wait_ms": 1, **settings}
        return open_driver(Target(name="java", driver="kafka_java", settings=everything), {})

    @contextmanager
    def _topic(self, crossing: str, name: str, **settings: Any) -> Iterator[tuple[Driver, str]]:
        driver = self._driver(crossing, **settings)
        driver.prepare_topics(Topics(name=name), (name,))
        try:
            yield driver, name
        finally:
            driver.remove_topics([name])


def _producing(topic: str) -> ProducerOptions:
    return ProducerOptions(0, (topic,), "ordinal", "1", "none")


def _consuming(topic: str) -> ConsumerOptions:
    return ConsumerOptions(0, (topic,), "ordinal", (), None, {})


def _send_all(producer: Producer, batches: list[Outgoing]) -> float:
    """Seconds until every message is acked."""
    begin = time.perf_counter()
    for batch in batches:
        taken = producer.send(batch, 0)
        _without_errors(producer.poll(0))
        while taken < len(batch):
            _without_errors(producer.poll(0.01))
            taken += producer.send(batch.rest(taken), 0)
    producer.flush_soon()
    while producer.outstanding():
        _without_errors(producer.poll(0.1))
        if time.perf_counter() - begin > _DEADLINE_S:
            raise RuntimeError(f"{producer.outstanding()} messages are not acked")
    return time.perf_counter() - begin


def _without_errors(acks: Any) -> None:
    if acks is not None and acks.errors:
        raise RuntimeError(f"not sent: {next(iter(acks.errors.values()))}")


def _receive_all(consumer: Consumer, messages: int) -> float:
    """Seconds from the assignment until so many have come."""
    begin, got = time.perf_counter(), 0
    consumer.assign({(0, 0): 0})
    while got < messages:
        received = consumer.poll(0.5)
        got += len(received) if received is not None else 0
        if time.perf_counter() - begin > _DEADLINE_S:
            raise RuntimeError(f"{got} of {messages} messages came")
    return time.perf_counter() - begin
