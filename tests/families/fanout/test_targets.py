from __future__ import annotations

import pytest

from streamgauge.drivers.registry import driver_class
from streamgauge.drivers.swarm import SwarmDriver, why_no_swarms
from streamgauge.families.fanout.targets import is_of_a_gateway, target_of
from streamgauge.spec.target import Target


@pytest.mark.parametrize(
    ("way", "through"), [("gateway", True), ("kafka-standalone", False), ("kafka-groups", False)]
)
def test_every_way_has_clients_by_the_thousand(way: str, through: bool) -> None:
    target = Target.model_validate(target_of(way))
    assert target.name == way
    assert issubclass(driver_class(target), SwarmDriver)
    assert is_of_a_gateway(target) == through
    assert why_no_swarms(target) is None


def test_what_has_swarms_is_asked_of_what_is_installed() -> None:
    why = why_no_swarms(Target(name="z", driver="zeromq"))
    assert why == (
        "target z: driver zeromq has no swarms, as a fan-out needs; allowed: kafka_confluent, push_websocket"
    )
