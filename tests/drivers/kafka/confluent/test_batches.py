from __future__ import annotations

import shutil
import sysconfig
import uuid
from pathlib import Path

import confluent_kafka
import pytest

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Driver
from streamgauge.drivers.kafka.confluent import batches as rdkafka_batches
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.reading import Packed
from streamgauge.spec.workload import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND
from tests.drivers.kafka.confluent.test_driver import kafka_target

COMPILES = (
    bool(shutil.which("cc") or shutil.which("gcc"))
    and Path(sysconfig.get_path("include"), "Python.h").exists()
)


@pytest.mark.skipif(not COMPILES, reason="no C compiler, or no Python.h")
def test_where_it_can_be_built_it_is_there() -> None:
    # It is optional, so a build that fails says nothing: without this, all would go on, only slower.
    assert rdkafka_batches.available()


def test_a_version_nobody_has_looked_at_is_read_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confluent_kafka, "__version__", "3.0.0")
    assert not rdkafka_batches.available()


def test_without_the_compiled_part_records_are_read_as_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdkafka_batches, "_rdkafka_batches", None)
    assert not rdkafka_batches.available()


def _consumer(driver: Driver, names: tuple[str, ...], places: tuple[tuple[int, int], ...]) -> Consumer:
    consumer = driver.consumer(ConsumerOptions(0, names, "value", places, None, dict.fromkeys(places, 0)))
    consumer.wait_ready(30)
    return consumer


def _poll_for_ten_seconds(consumer: Consumer) -> None:
    for _ in range(100):
        consumer.poll(0.1)


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
            assert set(batch.timestamp_kind) == {BROKER_TIME_APPEND}
            assert (batch.timestamps_ms > 1_600_000_000_000).all()
            columns = (batch.topics, batch.partitions, batch.offsets, batch.values.split())
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
