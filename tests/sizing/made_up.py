"""Costs of a machine that does not exist: what each thing takes there is known."""

from __future__ import annotations

from streamgauge.sizing.costs import Costs, MeasuredClients, MeasuredMessages
from streamgauge.sizing.loads import CLIENT_QUANTITIES, MESSAGE_QUANTITIES, ClientLoad, MessageLoad

OF_MESSAGES = {
    "producer_cores": (0.01, 1e-6, 1e-9, 20e-6, 10e-6),
    "consumer_cores": (0.01, 0.5e-6, 0.5e-9, 10e-6),
    "broker_cores": (0.05, 1e-6, 2e-9, 50e-6),
    "network_bytes_per_s": (0.0, 20.0, 1.0, 100.0),
    "broker_disk_bytes_per_s": (0.0, 10.0, 1.0, 50.0),
    "events_bytes_per_s": (9.0, 8.0),
    "producer_memory_bytes": (1e8, 100.0, 4096.0),
    "consumer_memory_bytes": (1e8, 50.0, 0.0),
    "broker_memory_bytes": (5e8, 1.0),
}
OF_CLIENTS = {
    "gateway_cores": (0.02, 1e-4),
    "swarm_cores": (0.02, 5e-5),
    "network_bytes_per_s": (0.0, 5000.0),
    "gateway_memory_bytes": (6e7, 20_000.0),
    "swarm_memory_bytes": (8e7, 5000.0, 5e7),
}


def made_up_costs() -> Costs:
    """Exact ones: a fit finds what is in the tables above."""
    sizes = [(2e3, 100), (2e4, 100), (1e5, 100), (2e3, 1000), (2e4, 1000), (6e4, 1000), (2e3, 10_000)]
    loads = [MessageLoad(rate_per_s=rate, size_bytes=size) for rate, size in sizes]
    loads += [MessageLoad(rate_per_s=2e4, size_bytes=100, partitions=count) for count in (1, 16)]
    counts = (100, 400, 1600)
    clients = [
        *(ClientLoad(clients=count, scenario="1") for count in counts),
        *(ClientLoad(clients=count, scenario="2", peak_clients=max(counts)) for count in counts),
    ]
    return Costs(
        cpu="made up",
        cores=2,
        measured_on="2026-01-01",
        version="0",
        messages=tuple(
            MeasuredMessages(
                load=load,
                took={name: _sum(OF_MESSAGES[name], load.causes(name)) for name in MESSAGE_QUANTITIES},
            )
            for load in loads
        ),
        clients=tuple(
            MeasuredClients(
                load=load,
                took={name: _sum(OF_CLIENTS[name], load.causes(name)) for name in CLIENT_QUANTITIES},
            )
            for load in clients
        ),
    )


def _sum(each: tuple[float, ...], causes: tuple[float, ...]) -> float:
    return sum(one * cause for one, cause in zip(each, causes, strict=True))
