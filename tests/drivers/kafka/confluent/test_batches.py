from __future__ import annotations

import uuid
from typing import Any

import confluent_kafka
import numpy as np
import pytest

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import ColumnReader, Consumer, ConsumerOptions, Driver
from streamgauge.drivers.kafka.confluent import batches as rdkafka_batches
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import MessageMaker
from streamgauge.payload.reading import Packed
from streamgauge.spec.load import Message
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND, CORRUPT, INTACT, RECEIVES, UNEXPECTED
from tests.drivers.kafka.confluent.test_driver import kafka_target
from tests.native.played_librdkafka import COMPILES


def test_a_version_nobody_has_looked_at_is_read_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confluent_kafka, "__version__", "3.0.0")
    assert not rdkafka_batches.available()


def test_without_the_compiled_part_records_are_read_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdkafka_batches, "compiled_loops", lambda: None)
    assert not rdkafka_batches.available()


def _consumer(driver: Driver, names: tuple[str, ...], places: tuple[tuple[int, int], ...]) -> Consumer:
    consumer = driver.consumer(ConsumerOptions(0, names, "value", places, None, dict.fromkeys(places, 0)))
    consumer.wait_ready(30)
    return consumer


def _poll_for_ten_seconds(consumer: Consumer) -> None:
    for _ in range(100):
        consumer.poll(0.1)


def _read_for_ten_seconds(reader: ColumnReader, rows: dict[str, Any]) -> None:
    for _ in range(100):
        reader.read(rows, 0.1)


@pytest.mark.broker
@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_sizes_empty_values_topics_and_partitions_come_out_as_written(kafka: str) -> None:
    driver = open_driver(kafka_target(kafka), {})
    names = tuple(f"t-{uuid.uuid4().hex[:8]}" for _ in range(2))
    driver.prepare_topics(Topics(name=names[0], partitions=2), names)
    written = [
        (topic, partition, b"x" * size if size is not None else None)
        for topic in (0, 1)
        for partition in (0, 1)
        for size in (0, 1, 5000, None, 64)
    ]
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka})
    for topic, partition, value in written:
        producer.produce(names[topic], value, partition=partition)
    assert producer.flush(30) == 0
    consumer = _consumer(driver, names, ((0, 0), (0, 1), (1, 0), (1, 1)))
    assert consumer.settings_in_force()["records read as"] == "batches"
    got: list[tuple[int, int, int, bytes]] = []
    for _ in range(100):
        if (batch := consumer.poll(0.1)) is not None:
            assert isinstance(batch.values, Packed)
            assert isinstance(batch.timestamp_kind, np.ndarray)
            assert set(batch.timestamp_kind) == {BROKER_TIME_APPEND}
            assert (batch.timestamps_ms > 1_600_000_000_000).all()
            columns: tuple[Any, ...] = (batch.topics, batch.partitions, batch.offsets, batch.values.split())
            got += [(int(t), int(p), int(o), v) for t, p, o, v in zip(*columns, strict=True)]
        if len(got) == len(written):
            break
    offsets = {(t, p): list(range(5)) for t in (0, 1) for p in (0, 1)}
    expected = [(t, p, offsets[t, p].pop(0), value or b"") for t, p, value in written]
    assert sorted(got) == sorted(expected)
    assert consumer.caught_up(dict.fromkeys(offsets, 5))
    consumer.close()
    driver.remove_topics(list(names))
    driver.close()


@pytest.mark.broker
@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_an_offset_that_is_not_there_ends_the_case_with_its_reason(kafka: str) -> None:
    target = kafka_target(kafka, consumer_client={"auto.offset.reset": "error"})
    driver, name = open_driver(target, {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    consumer = driver.consumer(ConsumerOptions(0, (name,), "value", ((0, 0),), None, {(0, 0): 77}))
    with pytest.raises(CaseFailed, match=r"the consumer cannot go on: .*offset"):
        _poll_for_ten_seconds(consumer)
    consumer.close()
    driver.remove_topics([name])


@pytest.mark.broker
@pytest.mark.parametrize("read", ["batches", "objects"])
def test_a_topic_deleted_by_somebody_else_ends_the_case_and_is_named(kafka: str, read: str) -> None:
    # librdkafka tells it through the client's error callback, which may only be called from inside
    # confluent-kafka's own methods: read beneath them, the process was aborted.
    news = {"topic.metadata.propagation.max.ms": 500, "topic.metadata.refresh.interval.ms": 500}
    driver = open_driver(kafka_target(kafka, read, consumer_client=news), {})
    name = f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=2), (name,))
    consumer = _consumer(driver, (name,), ((0, 0), (0, 1)))
    driver.remove_topics([name])
    with pytest.raises(CaseFailed, match=rf"a topic is gone .*{name}"):
        _poll_for_ten_seconds(consumer)
    consumer.close()
    driver.remove_topics([name])  # nothing is left behind, so that is no error


@pytest.mark.broker
@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_records_of_strangers_and_a_deleted_topic_do_no_harm_to_who_reads_into_columns(kafka: str) -> None:
    news = {"topic.metadata.propagation.max.ms": 500, "topic.metadata.refresh.interval.ms": 500}
    driver, name = open_driver(kafka_target(kafka, consumer_client=news), {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=2), (name,))
    ours = MessageMaker(Message(size=100), 77, 3).make(5, np.array([9])).values[0]
    values = [ours, ours[:-1], ours[:31], b"", None, b"x" * 5000]
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka})
    for value in values:
        producer.produce(name, value, partition=1)
    assert producer.flush(30) == 0
    places = ((0, 0), (0, 1))
    consumer = driver.consumer(ConsumerOptions(0, (name,), "value", places, None, dict.fromkeys(places, 0)))
    reader = consumer.column_reader(77)
    assert reader is not None
    consumer.wait_ready(30)
    rows: dict[str, Any] = {c.name: np.zeros(16, getattr(np, c.kind)) for c in RECEIVES.columns}
    count = 0
    for _ in range(100):
        count += reader.read({column: held[count:] for column, held in rows.items()}, 0.1)
        if count == len(values):
            break
    assert rows["state"][:count].tolist() == [INTACT, CORRUPT] + [UNEXPECTED] * 4
    assert rows["size_bytes"][:count].tolist() == [len(value or b"") for value in values]
    assert (rows["sequence"][0], rows["producer"][0], rows["partition"][0]) == (5, 3, 1)
    assert rows["offset"][:count].tolist() == list(range(6))
    driver.remove_topics([name])
    with pytest.raises(CaseFailed, match=rf"a topic is gone .*{name}"):
        _read_for_ten_seconds(reader, rows)
    consumer.close()


@pytest.mark.broker
@pytest.mark.parametrize("read", ["batches", "objects"])
def test_the_end_of_a_partition_is_told_and_read_past(kafka: str, read: str) -> None:
    target = kafka_target(kafka, read, consumer_client={"enable.partition.eof": True})
    driver, name = open_driver(target, {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    consumer, producer = (
        _consumer(driver, (name,), ((0, 0),)),
        confluent_kafka.Producer({"bootstrap.servers": kafka}),
    )
    for end in (1, 2):
        producer.produce(name, b"x" * 64)
        assert producer.flush(30) == 0
        for _ in range(100):
            consumer.poll(0.1)
            if consumer.caught_up({(0, 0): end}):
                break
        assert consumer.caught_up({(0, 0): end})
    consumer.close()
    driver.remove_topics([name])


@pytest.mark.broker
@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_batches_are_bounded_and_nothing_is_lost_between_them(kafka: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(rdkafka_batches, "_AT_ONCE", 25)
    driver, name = open_driver(kafka_target(kafka), {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka})
    for number in range(100):
        producer.produce(name, str(number).encode())
    # 25 of these are more than 16 MiB, so that it is cut by bytes, too.
    for _ in range(30):
        producer.produce(name, b"x" * 900_000)
    assert producer.flush(30) == 0
    consumer = _consumer(driver, (name,), ((0, 0),))
    values: list[bytes] = []
    for _ in range(300):
        if (batch := consumer.poll(0.1)) is not None:
            assert isinstance(batch.values, Packed)
            assert len(batch.values) <= 25
            assert len(batch.values.joined) < (16 << 20) + 900_000
            assert list(batch.offsets) == list(range(len(values), len(values) + len(batch.offsets)))
            values += batch.values.split()
        if len(values) == 130:
            break
    assert values == [str(number).encode() for number in range(100)] + [b"x" * 900_000] * 30
    consumer.close()
    driver.remove_topics([name])
