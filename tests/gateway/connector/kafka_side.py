"""A source on a real broker: topics, records, and a loop that the source publishes on."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.gateway.connector.source import KafkaSource

from .fakes import Listening, connection

DEADLINE_S = 60.0
_ASK_S = 10.0
QUIET = {"log_level": 0}


def new_topic(bootstrap: str, partitions: int = 1, name: str | None = None, **client: Any) -> str:
    name = name or f"gateway-{uuid.uuid4().hex[:10]}"
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET, **client})
    until = time.monotonic() + DEADLINE_S
    _make(admin, NewTopic(name, partitions, 1), until)
    while not _has_leaders(admin, name, partitions):
        assert time.monotonic() < until, f"{name} has no leaders"
        time.sleep(0.05)
    return name


def _make(admin: AdminClient, topic: NewTopic, until: float) -> None:
    """A broker that has just come up may leave the first request without an answer: it is asked again."""
    again = False
    while True:
        try:
            admin.create_topics([topic], request_timeout=_ASK_S)[topic.topic].result(DEADLINE_S)
            return
        except KafkaException as error:
            code = error.args[0].code()
            if again and code == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            is_late = code in (KafkaError._TIMED_OUT, KafkaError.REQUEST_TIMED_OUT)
            if not is_late or time.monotonic() > until:
                raise
        again = True


def _has_leaders(admin: AdminClient, name: str, partitions: int) -> bool:
    topic = admin.list_topics(timeout=DEADLINE_S).topics.get(name)
    return (
        topic is not None
        and len(topic.partitions) == partitions
        and all(partition.leader >= 0 for partition in topic.partitions.values())
    )


class Sender:
    """Produces records and waits until they are stored."""

    def __init__(self, bootstrap: str, **client: Any) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, **QUIET, **client})

    def __call__(self, topic: str, *values: bytes | None, **record: Any) -> None:
        for value in values:
            self._producer.produce(topic, value, **record)
        assert self._producer.flush(DEADLINE_S) == 0


@asynccontextmanager
async def reading(source: KafkaSource) -> AsyncIterator[Listening]:
    """A started source, closed in the end."""
    listener = Listening()
    source.start(listener)
    try:
        yield listener
    finally:
        await asyncio.to_thread(_close, source)


def _close(source: KafkaSource) -> None:
    source.close()


async def until(condition: Callable[[], bool], deadline_s: float = DEADLINE_S) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "it did not come about before the deadline"
        await asyncio.sleep(0.01)


async def assigned(source: KafkaSource) -> None:
    """Until it knows where it begins: what is produced from now on must come."""
    await until(lambda: bool(source._positions._published))


def source_of(bootstrap: str, topic: str, group: str | None = None, **parameters: Any) -> KafkaSource:
    """Item `i` of the topic, unless told otherwise."""
    if not any(name.startswith("map__") for name in parameters):
        parameters[f"map__{topic}__to"] = "i"
    settings = connection(**{"bootstrap__servers": bootstrap, **parameters})
    return KafkaSource("Q", settings, group or f"group-{uuid.uuid4().hex}")


def run(test: Awaitable[None]) -> None:
    async def with_deadline() -> None:
        await asyncio.wait_for(test, 4 * DEADLINE_S)

    asyncio.run(with_deadline())
