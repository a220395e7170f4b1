"""How many processes of a gateway, and of swarms that play its clients, so many clients take."""

from __future__ import annotations

import math

from streamgauge.sizing.costs import Costs
from streamgauge.sizing.fitting import NOTHING, Estimate
from streamgauge.sizing.loads import ClientLoad
from streamgauge.sizing.planning import BITS, Host, Need, SizePlan, fewest_processes, size_plan

_COUNTS = {"gateway": "gateways", "swarm": "swarms"}
_MOST_CLIENTS = {"gateway": 17_000, "swarm": 19_000}
"""Of a process, by what it may have open."""


def plan_clients(wanted: ClientLoad, costs: Costs, host: Host) -> SizePlan:
    load = wanted
    for role, field in _COUNTS.items():
        load = load.model_copy(update={field: _count(load, role, costs, host)})
    bits = clients_need(load, costs, "network_bytes_per_s").times(BITS)
    needs = [
        Need(
            role=role,
            processes=getattr(load, field),
            cores=clients_need(load, costs, f"{role}_cores"),
            memory_bytes=clients_need(load, costs, f"{role}_memory_bytes"),
            sent_bits_per_s=bits if role == "gateway" else NOTHING,
            received_bits_per_s=NOTHING if role == "gateway" else bits,
        )
        for role, field in _COUNTS.items()
    ]
    named = f"the gateway for {wanted.clients:,} clients of scenario {wanted.scenario}"
    notes = [
        "swarms are the clients of a test; in use there is the gateway alone",
        "Kafka sends every message once to each gateway process, which is little and not counted here",
    ]
    return size_plan(named, needs, host, costs, notes)


def clients_need(load: ClientLoad, costs: Costs, quantity: str) -> Estimate:
    """What they take of one thing, all processes together."""
    return costs.of_clients(load.scenario, quantity).at(load.causes(quantity))


def _count(load: ClientLoad, role: str, costs: Costs, host: Host) -> int:
    field = _COUNTS[role]

    def cores_of(count: int) -> Estimate:
        return clients_need(load.model_copy(update={field: count}), costs, f"{role}_cores")

    return max(math.ceil(load.clients / _MOST_CLIENTS[role]), fewest_processes(cores_of, host.fill, role))
