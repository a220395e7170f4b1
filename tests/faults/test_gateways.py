"""A gateway is killed and started again: the one that the case has for itself, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.faults.contract import Ending
from streamgauge.faults.gateways import GatewayRestart, GatewayRestartSpec

from .test_brokers import Cluster, scene


class Gateways(Cluster):
    def __init__(self) -> None:
        super().__init__()
        self.names = ["gateway"]


def test_it_is_killed_and_after_a_time_started_again() -> None:
    servers = Gateways()
    found = replace(scene(Cluster()), servers=cast("Any", servers))
    fault = GatewayRestart(GatewayRestartSpec.model_validate({"at": 0, "for": 2}), found)

    assert fault.begin() == "gateway"
    assert servers.done == ["kill gateway"]
    fault.end()

    assert servers.done == ["kill gateway", "start_again gateway"]


def test_without_a_time_it_is_started_again_at_once() -> None:
    servers = Gateways()
    fault = GatewayRestart(GatewayRestartSpec(at=0), replace(scene(Cluster()), servers=cast("Any", servers)))
    fault.begin()
    fault.end()
    assert servers.done == ["kill gateway", "start_again gateway"]
    assert fault.ending is Ending.AT_ONCE


def test_a_load_has_none_and_a_gateway_that_ran_before_is_not_touched() -> None:
    found, spec = scene(Cluster()), GatewayRestartSpec(at=0)
    assert "it is for a fan-out" in str(GatewayRestart.why_impossible(spec, found.case))
    with pytest.raises(BadInput, match="no gateway of its own"):
        GatewayRestart(spec, found).begin()
