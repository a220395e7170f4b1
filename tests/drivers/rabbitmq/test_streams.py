from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.systems.rabbitmq_server import RabbitMqServer
from streamgauge.testing.driver_suite import DriverSuite
from streamgauge.testing.wired import consume_all, produce_all

pytestmark = pytest.mark.usefixtures("rabbitmq_is_there")


@pytest.fixture(scope="module")
def url(rabbitmq_is_there: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RabbitMqServer(log_dir=tmp_path_factory.mktemp("logs")) as server:
        yield server.endpoints()["url"]


def rabbitmq_target(url: str) -> Target:
    return Target(name="rabbitmq", driver="rabbitmq_streams", settings={"url": url})


class TestStreams(DriverSuite):
    @pytest.fixture
    def target(self, url: str) -> Target:
        return rabbitmq_target(url)


def test_what_was_sent_can_be_read_again_from_the_middle_of_a_chunk(url: str) -> None:
    driver = open_driver(rabbitmq_target(url), {})
    driver.prepare_topics(Topics(name="again"), ("again",))
    assert driver.prepare_topics(Topics(name="again"), ("again",)) == []
    values = [b"%d" % number for number in range(500)]
    producer = driver.producer(ProducerOptions(0, ("again",), "value", "all", "none"))
    produce_all(producer, Outgoing(0, values, None, None))
    assert driver.end_offsets(("again",), 1) == {(0, 0): 500}
    consumer = driver.consumer(ConsumerOptions(0, ("again",), "value", (), None, {}))
    for first in (0, 301):
        consumer.assign({(0, 0): first})
        assert consume_all(consumer, 500 - first).values == values[first:]
    producer.close()
    consumer.close()
    driver.remove_topics(["again"])
    driver.close()


def test_where_a_stream_ends_is_known_as_soon_as_its_last_message_is_confirmed(url: str) -> None:
    driver = open_driver(rabbitmq_target(url), {})
    driver.prepare_topics(Topics(name="ends"), ("ends",))
    producer = driver.producer(ProducerOptions(0, ("ends",), "value", "all", "none"))
    for number in range(100):
        produce_all(producer, Outgoing(3 * number, [b"x"] * 3, None, None))
        assert driver.end_offsets(("ends",), 1) == {(0, 0): 3 * number + 3}
    producer.close()
    driver.remove_topics(["ends"])
    driver.close()


def test_a_batch_larger_than_a_frame_is_sent_in_several(url: str) -> None:
    driver = open_driver(rabbitmq_target(url), {})
    driver.prepare_topics(Topics(name="frames"), ("frames",))
    values = [bytes([number]) * 400_000 for number in range(9)]
    producer = driver.producer(ProducerOptions(0, ("frames",), "value", "all", "none"))
    assert not any(acks.errors for acks in produce_all(producer, Outgoing(0, values, None, None)))
    consumer = driver.consumer(ConsumerOptions(0, ("frames",), "value", ((0, 0),), None, {}))
    assert consume_all(consumer, 9).values == values
    producer.close()
    consumer.close()
    driver.remove_topics(["frames"])
    driver.close()


def test_a_message_larger_than_a_frame_fails_and_the_others_do_not(url: str) -> None:
    driver = open_driver(rabbitmq_target(url), {})
    driver.prepare_topics(Topics(name="large"), ("large",))
    producer = driver.producer(ProducerOptions(0, ("large",), "value", "all", "none"))
    told = produce_all(producer, Outgoing(0, [b"a", b"b" * 2_000_000, b"c"], None, None))
    errors = {sequence: why for acks in told for sequence, why in acks.errors.items()}
    assert list(errors) == [1]
    assert "larger than a frame" in errors[1]
    assert driver.end_offsets(("large",), 1) == {(0, 0): 2}
    producer.close()
    driver.remove_topics(["large"])
    driver.close()


def test_a_server_that_dies_is_said_on_both_sides(tmp_path: Path) -> None:
    with RabbitMqServer(log_dir=tmp_path) as server:
        driver = open_driver(rabbitmq_target(server.endpoints()["url"]), {})
        driver.prepare_topics(Topics(name="t"), ("t",))
        consumer = driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
        producer = driver.producer(ProducerOptions(0, ("t",), "value", "all", "none"))
        driver.close()
    gone = r"RabbitMQ at rabbitmq-stream://127\.0\.0\.1:\d+ is gone"
    with pytest.raises(CaseFailed, match=gone):
        consume_all(consumer, 1)
    with pytest.raises(CaseFailed, match=gone):
        produce_all(producer, Outgoing(0, [b"x"], None, None))
    producer.close()
    consumer.close()


def test_a_server_that_is_not_there_is_said() -> None:
    driver = open_driver(rabbitmq_target("rabbitmq-stream://127.0.0.1:1"), {})
    with pytest.raises(Unreachable, match=r"RabbitMQ at rabbitmq-stream://127\.0\.0\.1:1"):
        driver.check_reachable(15)
    driver.close()


def test_what_cannot_be_had_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match=r"settings.url: no RabbitMQ address, and no system to start"):
        open_driver(Target(name="r", driver="rabbitmq_streams"), {})
    driver = open_driver(rabbitmq_target(url), {})
    with pytest.raises(BadInput, match=r"load.topics.replicas: 3: RabbitMQ itself decides"):
        driver.prepare_topics(Topics(name="t", replicas=3), ("t",))
    with pytest.raises(BadInput, match=r"load.topics: 2 topics of 200 partitions .* allowed: 255"):
        driver.prepare_topics(Topics(name="t", partitions=200, count=2), ("t-0", "t-1"))
    wrong = rabbitmq_target(url).model_copy(update={"client": {"password": "wrong"}})
    locked = open_driver(wrong, {})
    with pytest.raises(Unreachable, match=r"RabbitMQ at rabbitmq-stream://127\.0\.0\.1:\d+: .*[Aa]uth"):
        locked.check_reachable(15)
    locked.close()
