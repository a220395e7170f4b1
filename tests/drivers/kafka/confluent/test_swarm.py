from __future__ import annotations

import uuid

import pytest

from streamgauge.drivers.registry import open_driver
from streamgauge.drivers.swarm import SwarmDriver, SwarmOptions
from streamgauge.spec.topics import Topics
from tests.drivers.kafka.confluent.test_driver import kafka_target


@pytest.mark.broker
def test_clients_whose_topic_is_deleted_are_gone_and_say_why(kafka: str) -> None:
    news = {"topic.metadata.propagation.max.ms": 500, "topic.metadata.refresh.interval.ms": 500}
    driver, name = open_driver(kafka_target(kafka, consumer_client=news), {}), f"t-{uuid.uuid4().hex[:8]}"
    driver.prepare_topics(Topics(name=name, partitions=1), (name,))
    options = SwarmOptions(
        first=0,
        keys=(0, 0),
        key_names=(),
        measured=frozenset(),
        topic=name,
        start={(0, 0): 0},
        kind="base",
        group=None,
        parse_json=False,
        item="",
        fields=(),
        max_frequency="unfiltered",
        ramp_up_per_s=1000.0,
    )
    assert isinstance(driver, SwarmDriver)
    swarm = driver.swarm(options, lambda *_: None)
    try:
        swarm.connect(30, lambda: True)
        assert swarm.gone == {}
        driver.remove_topics([name])
        for _ in range(100):
            swarm.serve(0.1)
            if len(swarm.gone) == 2:
                break
    finally:
        swarm.close()
    assert sorted(swarm.gone) == [0, 1]
    assert all(name in why for why in swarm.gone.values())
