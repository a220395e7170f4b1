from __future__ import annotations

import pytest

from streamgauge.sizing.client_plan import clients_need, plan_clients
from streamgauge.sizing.loads import ClientLoad
from streamgauge.sizing.planning import Host
from tests.sizing.made_up import made_up_costs

COSTS = made_up_costs()


def test_a_million_clients_are_many_processes_none_of_which_is_full() -> None:
    found = plan_clients(ClientLoad(clients=1_000_000, scenario="2"), COSTS, Host())
    gateway, swarm = found.parts
    # 1e-4 cores a client: 0.7 of a core holds 6,800; by files it would be 17,000.
    assert gateway.processes == pytest.approx(1_000_000 / 6_800, abs=2)
    assert swarm.processes >= 1_000_000 / 19_000
    assert gateway.sent_bits_per_s.value == swarm.received_bits_per_s.value == pytest.approx(4e10)
    assert found.wanted == "the gateway for 1,000,000 clients of scenario 2"
    assert gateway.hosts >= gateway.cores.value / (8 * 0.7)


def test_light_clients_are_bounded_by_open_files() -> None:
    content = COSTS.model_dump(mode="json")
    for one in content["clients"]:
        one["took"]["gateway_cores"] /= 100
    found = plan_clients(
        ClientLoad(clients=100_000, scenario="1"), type(COSTS).model_validate(content), Host()
    )
    assert found.parts[0].processes == 6


def test_what_was_measured_is_told_again() -> None:
    one = COSTS.clients[1]
    for quantity, took in one.took.items():
        assert clients_need(one.load, COSTS, quantity).value == pytest.approx(took)
