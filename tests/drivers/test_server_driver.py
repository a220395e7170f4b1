from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target

ADDRESSES = {
    "nats_jetstream": ("servers", "NATS", "nats://127.0.0.1:4222"),
    "rabbitmq_streams": ("url", "RabbitMQ", "rabbitmq-stream://127.0.0.1:5552"),
    "redis_streams": ("url", "Redis", "redis://127.0.0.1:6379"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_without_an_address_it_says_which_setting_has_it(name: str) -> None:
    setting, server, _ = ADDRESSES[name]
    with pytest.raises(BadInput, match=rf"target t: settings\.{setting}: no {server} address, and no system"):
        open_driver(Target(name="t", driver=name), {})


@pytest.mark.parametrize("name", ADDRESSES)
def test_agents_are_told_of_the_partitions(name: str) -> None:
    setting, _, address = ADDRESSES[name]
    driver = open_driver(Target(name="t", driver=name), {setting: address, "partitions": "3"})
    assert driver.endpoints() == {"partitions": "3"}
    driver.close()
