from __future__ import annotations

import socket

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.testing.driver_suite import DriverSuite


class TestPushPull(DriverSuite):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="zeromq", driver="zeromq")


def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        driver = open_driver(Target(name="z", driver="zeromq", settings={"ports": [port]}), {})
        driver.prepare_topics(Topics(name="t"), ("t",))
        with pytest.raises(BadInput, match=rf"{port}: cannot be listened on: the port is in use"):
            driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
        driver.close()
