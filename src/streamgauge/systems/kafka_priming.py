"""A short burst through a broker that has just come up, so that the first case does not meet a cold Java.

It is given while Spark starts, by a client of our own, through a topic that is deleted afterwards. It is no
warm-up: that is the agents' business, at the rate that was asked for. It only takes the worst off the first
seconds, and it never fails: a broker that cannot be primed is measured cold.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PRIMING_LIMIT_S = 3.0
_TOPIC_DEADLINE_S = 5.0
MOST_MESSAGES = 60_000
_TOGETHER = 20
"""Requests on their way at a time: it is their number that gets the broker's Java to compile, so each has one
message, and there is always another one."""
_RECEIVED_TOGETHER = 500
_RECEIVE_WAIT_S = 0.001
_BODY = bytes(700)
_LOGGER = logging.getLogger("streamgauge.librdkafka")


@dataclass(frozen=True)
class Primed:
    """What a burst was, for the run's record."""

    messages_count: int
    took_s: float


def prime_kafka(
    connection: Mapping[str, str],
    brokers: int,
    is_over: Event,
    limit_s: float = PRIMING_LIMIT_S,
    most_messages: int = MOST_MESSAGES,
) -> Primed | None:
    """Send and receive until the time is up, `is_over` is set or it is enough; None: it cannot be done.

    `connection`: in librdkafka's words.
    """
    topic, begun_s = f"streamgauge-priming-{secrets.token_hex(4)}", time.monotonic()
    try:
        admin = AdminClient(dict(connection), logger=_LOGGER)
        new = NewTopic(topic, num_partitions=brokers, replication_factor=brokers)
        admin.create_topics([new])[topic].result(_TOPIC_DEADLINE_S)
        try:
            count = _burst(
                connection, topic, brokers, _Until(is_over, time.monotonic() + limit_s, most_messages)
            )
        finally:
            admin.delete_topics([topic])[topic].result(_TOPIC_DEADLINE_S)
    except (KafkaException, TimeoutError):
        return None
    return Primed(count, round(time.monotonic() - begun_s, 3))


@dataclass(frozen=True)
class _Until:
    """When it is enough."""

    is_over: Event
    until_s: float
    most_messages: int

    def is_enough(self, received: int) -> bool:
        return received >= self.most_messages or time.monotonic() >= self.until_s or self.is_over.is_set()


def _burst(connection: Mapping[str, str], topic: str, partitions: int, until: _Until) -> int:
    """How many messages were received again."""
    sending = {"linger.ms": 0, "acks": "all", "batch.num.messages": 1}
    producer = Producer({**connection, **sending}, logger=_LOGGER)
    reading = {"group.id": topic, "enable.auto.commit": False, "fetch.wait.max.ms": 10}
    consumer = Consumer({**connection, **reading}, logger=_LOGGER)
    sent, received = 0, 0
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        while not until.is_enough(received):
            for _ in range(_TOGETHER - len(producer)):
                producer.produce(topic, _BODY, partition=sent % partitions)
                sent += 1
            producer.poll(0)
            got = consumer.consume(_RECEIVED_TOGETHER, _RECEIVE_WAIT_S)
            received += sum(1 for message in got if message.error() is None)
    finally:
        producer.purge()
        consumer.close()
    return received
