from __future__ import annotations

import uuid
from typing import Any

import pytest

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.contract import Producer, ProducerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.native.loading import compiled_loops
from streamgauge.payload.making import MessageMaker
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.testing.driver_suite import DriverSuite
from streamgauge.testing.kafka_suite import KafkaSuite
from streamgauge.testing.wired import Wired

pytestmark = pytest.mark.broker


def kafka_target(bootstrap: str, read: str = "batches", **parts: Any) -> Target:
    settings = {"bootstrap": bootstrap, "read": read}
    return Target(name="kafka", driver="kafka_confluent", settings=settings, **parts)


class TestConformance(KafkaSuite):
    driver_name = "kafka_confluent"
    native_linger = "linger.ms"
    native_unknown = "no.such.setting"

    def test_a_small_queue_refuses_and_then_takes_the_rest(self, kafka: str, topic: str) -> None:
        target = kafka_target(kafka, producer_client={"queue.buffering.max.messages": 100})
        with Wired(open_driver(target, {}), (topic,), partitions=1, message=Message(size=64)) as wired:
            wired.send(1000, batch=250)
            wired.collect_acks()
            assert len(wired.receive(1000).values) == 1000


class TestConformanceReadingObjects(DriverSuite):
    @pytest.fixture
    def target(self, kafka: str) -> Target:
        return kafka_target(kafka, read="objects", producer_client={"linger.ms": 1})


def test_a_topic_with_other_partitions_is_refused(kafka: str) -> None:
    driver, name = open_driver(kafka_target(kafka), {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=2), (name,))
    with pytest.raises(BadInput, match=rf"topic {name} exists with 2 partitions, not 3"):
        driver.prepare_topics(Topics(name=name, partitions=3), (name,))
    assert driver.prepare_topics(Topics(name=name, partitions=2), (name,)) == []
    driver.remove_topics([name])


def test_more_replicas_than_brokers_are_refused(kafka: str) -> None:
    with pytest.raises(BadInput, match=r"replicas: 3 replicas need as many brokers; .* has 1"):
        open_driver(kafka_target(kafka), {}).prepare_topics(Topics(name="r", replicas=3), ("r",))


def test_a_broker_that_does_not_answer_is_named() -> None:
    driver = open_driver(kafka_target("127.0.0.1:1"), {})
    with pytest.raises(Unreachable, match=r"Kafka at 127\.0\.0\.1:1 did not answer within 1 s"):
        driver.check_reachable(1)


def test_without_an_address_it_says_so() -> None:
    with pytest.raises(BadInput, match=r"settings.bootstrap: no Kafka address"):
        open_driver(Target(name="kafka", driver="kafka_confluent"), {})


@pytest.mark.parametrize(
    ("parts", "is_idempotent"),
    [
        ({}, False),
        ({"producer_client": {"enable.idempotence": "true"}}, True),
        ({"producer_client": {"transactional.id": "own"}}, True),
    ],
    ids=["by default", "asked for", "for transactions"],
)
@pytest.mark.parametrize("send", ["native", "objects"])
def test_a_producer_tells_whether_it_is_idempotent(
    kafka: str, send: str, parts: dict[str, Any], is_idempotent: bool
) -> None:
    driver, topic = open_driver(kafka_target(kafka, **parts), {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=topic), (topic,))
    options = ProducerOptions(0, (topic,), "value", "all", "none")
    if send == "objects":
        producer: Producer | None = driver.producer(options)
    elif compiled_loops() is None:
        pytest.skip("the loops were not built")
    else:
        ingredients = MessageMaker(Message(size=64), 77, 0).ingredients()
        assert ingredients is not None
        producer = driver.paced_producer(options, ingredients)
    assert producer is not None

    assert producer.settings_in_force()["enable.idempotence"] is is_idempotent

    producer.close()
    driver.remove_topics([topic])
