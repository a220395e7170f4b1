from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.redis.clients import end_of, offsets_of, stream_key
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.making import Outgoing
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.systems.redis_server import RedisServer
from streamgauge.testing.driver_suite import DriverSuite
from streamgauge.testing.wired import consume_all, produce_all

pytestmark = pytest.mark.usefixtures("redis_is_there")


@pytest.fixture(scope="module")
def url(redis_is_there: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(log_dir=tmp_path_factory.mktemp("logs")) as server:
        yield server.endpoints()["url"]


def redis_target(url: str) -> Target:
    return Target(name="redis", driver="redis_streams", settings={"url": url})


class TestStreams(DriverSuite):
    @pytest.fixture
    def target(self, url: str) -> Target:
        return redis_target(url)


def test_ids_are_numbers_that_grow() -> None:
    found = offsets_of([b"1731700000000-0", b"1731700000000-1", b"1731700000001-0"])
    assert np.all(np.diff(found) > 0)
    assert (found >> 20).tolist() == [1731700000000, 1731700000000, 1731700000001]
    assert end_of(b"0-0") == 0


def test_what_was_sent_can_be_read_again_from_the_middle(url: str) -> None:
    driver = open_driver(redis_target(url), {})
    driver.prepare_topics(Topics(name="again"), ("again",))
    values = [b"%d" % number for number in range(500)]
    producer = driver.producer(ProducerOptions(0, ("again",), "value", "all", "none"))
    told = produce_all(producer, Outgoing(0, values, None, None))
    places = np.concatenate([acks.offsets for acks in told])
    consumer = driver.consumer(ConsumerOptions(0, ("again",), "value", (), None, {}))
    for first in (0, 300):
        consumer.assign({(0, 0): int(places[first])})
        assert consume_all(consumer, 500 - first).values == values[first:]
    producer.close()
    consumer.close()
    driver.remove_topics(["again"])
    assert driver.end_offsets(("again",), 1) == {(0, 0): 0}
    driver.close()


def test_large_messages_arrive_whole(url: str) -> None:
    """More than a socket takes at once, both ways."""
    driver = open_driver(redis_target(url), {})
    driver.prepare_topics(Topics(name="large"), ("large",))
    values = [bytes([number]) * 2_000_000 for number in range(12)]
    producer = driver.producer(ProducerOptions(0, ("large",), "value", "all", "none"))
    consumer = driver.consumer(ConsumerOptions(0, ("large",), "value", ((0, 0),), None, {}))
    told = produce_all(producer, Outgoing(0, values, None, None))
    assert sum(map(len, told)) == 12
    assert consume_all(consumer, 12).values == values
    producer.close()
    consumer.close()
    driver.remove_topics(["large"])
    driver.close()


def test_a_message_that_is_refused_is_told_with_the_servers_words(url: str) -> None:
    driver = open_driver(redis_target(url), {})
    driver.prepare_topics(Topics(name="odd"), ("odd",))
    driver._asked(lambda admin: admin.set(stream_key("odd", 0), "no stream"))  # type: ignore[attr-defined]
    producer = driver.producer(ProducerOptions(0, ("odd",), "value", "all", "none"))
    told = produce_all(producer, Outgoing(7, [b"a", b"b"], None, None))
    errors = {sequence: why for acks in told for sequence, why in acks.errors.items()}
    assert set(errors) == {7, 8}
    assert all("WRONGTYPE" in why for why in errors.values())
    assert {int(offset) for acks in told for offset in acks.offsets} == {-1}
    producer.close()
    with pytest.raises(BadInput, match="topic odd: Redis holds a string by that name, not a stream"):
        driver.prepare_topics(Topics(name="odd"), ("odd",))
    driver.remove_topics(["odd"])
    driver.close()


def test_a_server_without_an_append_only_file_is_not_called_durable(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    logs = tmp_path_factory.mktemp("logs")
    with RedisServer(log_dir=logs, properties={"appendonly": "no", "requirepass": "open"}) as server:
        assert "gone with the server" in server.description()
        url = server.endpoints()["url"]
        driver = open_driver(redis_target(url).model_copy(update={"client": {"password": "open"}}), {})
        facts = driver.check_reachable(15)
        assert facts["appendonly"] == "no"
        assert not driver.capabilities.durable
        consumer = driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
        driver.close()
        locked = open_driver(redis_target(url), {})
        with pytest.raises(Unreachable, match="NOAUTH"):
            locked.producer(ProducerOptions(0, ("t",), "value", "all", "none"))
    with pytest.raises(CaseFailed, match=r"consumer 0: Redis at redis://127\.0\.0\.1:\d+ is gone"):
        consumer.poll(5)
    consumer.close()


def test_a_server_that_is_not_there_is_said() -> None:
    driver = open_driver(redis_target("redis://127.0.0.1:1"), {})
    with pytest.raises(Unreachable, match=r"Redis at redis://127\.0\.0\.1:1"):
        driver.check_reachable(15)
    with pytest.raises(Unreachable, match=r"Redis at redis://127\.0\.0\.1:1"):
        driver.producer(ProducerOptions(0, ("t",), "value", "all", "none"))
    driver.close()


def test_what_cannot_be_had_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match=r"settings.url: no Redis address, and no system to start"):
        open_driver(Target(name="r", driver="redis_streams"), {})
    with pytest.raises(BadInput, match=r"databases have numbers"):
        open_driver(redis_target(f"{url}/mine"), {})
    driver = open_driver(redis_target(url), {})
    with pytest.raises(BadInput, match=r"load.topics.replicas: 3: one Redis server keeps one copy"):
        driver.prepare_topics(Topics(name="t", replicas=3), ("t",))
