"""Where reading begins, and when one may subscribe, with a Kafka that answers when the test says so."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException, TopicPartition

from streamgauge.gateway.connector import source as sources
from streamgauge.gateway.connector.source import KafkaSource

from ..server.raw_client import WebSocket
from ..server.running import running
from .fakes import Listening, Message, connection

DEADLINE_S = 10.0
SUBSCRIBE_BY_K = (
    "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i&LS_schema=v&LS_data_adapter=K"
    "&LS_requested_max_frequency=unfiltered"
)


class Kafka:
    """One topic, `t`, with one partition; makes consumers of itself."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.may_join = threading.Event()
        self.records: list[bytes] = [b"old"]
        self.topics = {"t": SimpleNamespace(partitions={0: None}, error=None)}
        self.consumers: list[FakeConsumer] = []

    def consumer(self, settings: dict[str, Any], logger: Any) -> FakeConsumer:
        self.consumers.append(FakeConsumer(self))
        return self.consumers[-1]


class FakeConsumer:
    """Joins its group when it is polled and may."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self._at = -1
        self._on_assign: Callable[..., None] | None = None
        self.is_closed = False

    def list_topics(self, timeout: float) -> Any:
        if not self._kafka.answers.wait(0.02):
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return SimpleNamespace(topics=self._kafka.topics)

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        return 0, len(self._kafka.records)

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        return [TopicPartition(p.topic, p.partition, OFFSET_INVALID) for p in places]

    def subscribe(self, topics: list[str], on_assign: Callable[..., None], on_revoke: Any) -> None:
        self._on_assign = on_assign

    def assign(self, places: list[TopicPartition]) -> None:
        [place] = places
        self._at = place.offset

    def poll(self, timeout: float) -> Message | None:
        if self._on_assign is not None and self._at < 0 and self._kafka.may_join.is_set():
            self._on_assign(self, [TopicPartition("t", 0)])
        if 0 <= self._at < len(self._kafka.records):
            self._at += 1
            return Message(self._kafka.records[self._at - 1], offset_=self._at - 1)
        time.sleep(0.001)
        return None

    def consume(self, count: int, timeout: float) -> list[Message]:
        return []

    def commit(self, offsets: Any, asynchronous: bool) -> None: ...

    def close(self) -> None:
        self.is_closed = True


def never() -> None:
    raise AssertionError("nobody was told to wait")


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    made = Kafka()
    monkeypatch.setattr("streamgauge.gateway.connector.consuming.confluent_kafka.Consumer", made.consumer)
    monkeypatch.setattr(sources, "_PREPARE_S", DEADLINE_S)
    return made


async def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < end, "it did not come about before the deadline"
        await asyncio.sleep(0.005)


def with_source(act: Callable[[KafkaSource, Listening], Any], **parameters: Any) -> None:
    async def test() -> None:
        source, listener = KafkaSource("Q", connection(**parameters), "group"), Listening()
        source.start(listener)
        try:
            await act(source, listener)
        finally:
            source.close()

    asyncio.run(test())


def test_what_comes_after_one_may_subscribe_is_read_however_long_it_takes_to_join(kafka: Kafka) -> None:
    async def act(source: KafkaSource, listener: Listening) -> None:
        told: list[str] = []

        def ready() -> None:
            source.subscribe("i")
            told.append("subscribed")

        assert not source.prepare(["i"], ready)
        await asyncio.sleep(0.05)
        assert told == []
        kafka.answers.set()
        await until(lambda: told)
        kafka.records += [b"1", b"2"]
        kafka.may_join.set()
        await until(lambda: len(listener.events) == 2)
        assert [fields["v"] for _, fields in listener.updates()] == ["1", "2"]
        assert source.prepare(["i"], ready), "reading already"
        assert told == ["subscribed"]

    with_source(act)


def test_nobody_waits_where_the_end_does_not_matter(kafka: Kafka) -> None:
    async def act(source: KafkaSource, _: Listening) -> None:
        assert source.prepare(["i"], never)
        assert kafka.consumers == []

    with_source(act, record__consume__from="EARLIEST")
    with_source(act, enable="false")


def test_an_item_that_there_cannot_be_begins_nothing(kafka: Kafka) -> None:
    async def act(source: KafkaSource, _: Listening) -> None:
        for item in ("other", "i-[a=1]", "$", ""):
            assert source.prepare([item], never)
        assert kafka.consumers == []

    with_source(act)


def test_reading_ends_when_those_who_waited_are_gone(kafka: Kafka) -> None:
    async def act(source: KafkaSource, _: Listening) -> None:
        told: list[int] = []
        assert not source.prepare(["i"], lambda: told.append(1))
        assert not source.prepare(["i"], lambda: told.append(2))
        kafka.answers.set()
        await until(lambda: told == [1, 2])
        await until(lambda: [consumer.is_closed for consumer in kafka.consumers] == [True])

    with_source(act)


def test_a_kafka_that_does_not_answer_is_waited_for_without_the_client(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_PREPARE_S", 0.05)

    async def act(source: KafkaSource, listener: Listening) -> None:
        told: list[int] = []

        def ready() -> None:
            source.subscribe("i")
            told.append(1)

        assert not source.prepare(["i"], ready)
        await until(lambda: told)
        kafka.answers.set()
        kafka.may_join.set()
        await until(lambda: source._positions._published)
        kafka.records.append(b"1")
        await until(lambda: listener.events)
        assert told == [1], "once"
        assert len(kafka.consumers) == 1

    with_source(act)


def test_who_waits_for_a_topic_that_is_not_there_is_told_like_anybody(kafka: Kafka) -> None:
    async def act(source: KafkaSource, listener: Listening) -> None:
        kafka.topics = {}
        kafka.answers.set()
        assert not source.prepare(["i"], lambda: source.subscribe("i"))
        await until(lambda: [event[0] for event in listener.events] == ["failed", "failed"])
        assert "there is no topic t" in listener.events[0][1]

    with_source(act)


@pytest.mark.parametrize(
    ("reads_unwatched", "read"), [("true", ["1", "unwatched", "2"]), ("false", ["1", "2"])]
)
def test_a_further_subscription_waits_only_where_what_came_unwatched_is_passed_over(
    kafka: Kafka, reads_unwatched: str, read: list[str]
) -> None:
    async def act(source: KafkaSource, listener: Listening) -> None:
        told: list[int] = []

        def ready() -> None:
            source.subscribe("i")
            told.append(1)

        kafka.answers.set()
        kafka.may_join.set()
        assert not source.prepare(["i"], ready)
        await until(lambda: source._positions._published)
        kafka.records.append(b"1")
        await until(lambda: listener.events)
        source.unsubscribe("i")
        kafka.records.append(b"unwatched")
        if source.prepare(["i"], ready):
            assert reads_unwatched == "true"
            ready()
        await until(lambda: len(told) == 2)
        kafka.records.append(b"2")
        await until(lambda: len(listener.events) == len(read))
        assert [fields["v"] for _, fields in listener.updates()] == read

    with_source(act, record__consume__unwatched__enable=reads_unwatched)


def test_a_client_has_its_subok_when_the_end_is_known_and_gets_all_that_comes_after_it(kafka: Kafka) -> None:
    source = KafkaSource("Q", connection(), "group")
    with running(sources={"K": source}) as server, WebSocket(server) as client:
        client.open_session()
        client.send(SUBSCRIBE_BY_K)
        server.wait_until(lambda: kafka.consumers)
        assert server.call(lambda: list(server.server.reception._held.values())) == [[]]
        kafka.answers.set()
        client.until("SUBOK,1,1,1")
        kafka.records += [b"1", b"2"]
        kafka.may_join.set()
        assert [client.until("U,")[-1] for _ in range(2)] == ["U,1,1,1", "U,1,1,2"]
