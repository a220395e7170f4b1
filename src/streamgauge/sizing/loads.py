"""Loads as their costs see them: how much of every cause of work a load has.

A message costs something, so does each of its bytes, and so does every request that brings some of them: a
client that gathers messages for a while sends few requests with many, or many with few.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from streamgauge.spec.model import Bytes, Count, RatePerS, SpecModel

LINGER_S = 0.005
"""How long producers gather messages: of the target that is calibrated with."""
_BATCH_BYTES, _BATCH_MESSAGES = 1_000_000, 10_000
"""What a batch of librdkafka holds at the most."""

_MOST_WAKES_PER_S = 20_000.0
"""A producer by a schedule sleeps until a message is due; of more than so many a second, several are."""

_HEAP_FULL_BYTES_PER_S = 80_000_000.0
"""Through one broker; from there on Java has taken all that it may."""

Causes = tuple[float, ...]
MESSAGE_QUANTITIES = (
    "producer_cores",
    "consumer_cores",
    "broker_cores",
    "network_bytes_per_s",
    "broker_disk_bytes_per_s",
    "events_bytes_per_s",
    "producer_memory_bytes",
    "consumer_memory_bytes",
    "broker_memory_bytes",
)
"""What is told of messages, of all processes of a role together."""
CLIENT_QUANTITIES = (
    "gateway_cores",
    "swarm_cores",
    "network_bytes_per_s",
    "gateway_memory_bytes",
    "swarm_memory_bytes",
)
"""… and of a gateway's clients, which live in swarms."""
OF_ALL_SCENARIOS = ("swarm_memory_bytes",)
"""That clients take whatever they get: fitted over the loads of all scenarios."""


class MessageLoad(SpecModel):
    """Messages from producers through brokers to consumers, each to one of them."""

    rate_per_s: Annotated[RatePerS, Field(gt=0)]
    size_bytes: Annotated[Bytes, Field(ge=1)]
    replicas: Annotated[Count, Field(ge=1)] = 1
    producers: Annotated[Count, Field(ge=1)] = 1
    consumers: Annotated[Count, Field(ge=0)] = 1
    brokers: Annotated[Count, Field(ge=1)] = 1
    partitions: Annotated[Count, Field(ge=1)] = 4
    peak_rate_per_s: float | None = None
    """The most that the same processes had to do before: memory once taken is kept. None: nothing."""
    peak_size_bytes: int | None = None
    peak_bytes_per_s: float | None = None

    @property
    def wakes_per_s(self) -> float:
        """How often producers wake up to send something."""
        own = self.rate_per_s / self.producers
        return self.producers * own * _MOST_WAKES_PER_S / (own + _MOST_WAKES_PER_S)

    @property
    def batches_per_s(self) -> float:
        """Every producer gathers for every partition by itself."""
        streams = self.producers * self.partitions
        own = self.rate_per_s / streams
        most = max(1 / LINGER_S, own * self.size_bytes / _BATCH_BYTES, own / _BATCH_MESSAGES)
        return streams * min(own, most)

    @property
    def hops(self) -> int:
        """How often a message goes over the network: to the leader, to each other replica, to a consumer."""
        return self.replicas + (1 if self.consumers else 0)

    def causes(self, quantity: str) -> Causes:
        work = (self.rate_per_s, self.rate_per_s * self.size_bytes, self.batches_per_s)
        processes, times = {
            "producer_cores": (self.producers, 1),
            "consumer_cores": (self.consumers, 1 if self.consumers else 0),
            "broker_cores": (self.brokers, self.replicas),
            "network_bytes_per_s": (0, self.hops),
            "broker_disk_bytes_per_s": (0, self.replicas),
            "events_bytes_per_s": (0, 1 if self.consumers else 0.5),
            "producer_memory_bytes": (self.producers, 1),
            "consumer_memory_bytes": (self.consumers, 1 if self.consumers else 0),
            "broker_memory_bytes": (self.brokers, self.replicas),
        }[quantity]
        if quantity == "events_bytes_per_s":
            # Of messages that are sent together, times and places differ by less.
            return (times * self.rate_per_s, times * self.wakes_per_s)
        if quantity.endswith("memory_bytes"):
            return self._memory_causes(float(processes), times, quantity)
        causes = (float(processes), *(times * part for part in work))
        return (*causes, self.wakes_per_s) if quantity == "producer_cores" else causes

    def _memory_causes(self, processes: float, times: float, quantity: str) -> Causes:
        """Of agents: what is recorded by and by, and ready bodies; of brokers: what goes through."""
        rate = max(self.rate_per_s, self.peak_rate_per_s or 0.0)
        size = max(self.size_bytes, self.peak_size_bytes or 0)
        through = max(self.rate_per_s * self.size_bytes, self.peak_bytes_per_s or 0.0)
        if quantity == "broker_memory_bytes":
            return (processes, processes * min(times * through / processes, _HEAP_FULL_BYTES_PER_S))
        return (processes, times * rate, processes * size)


class ClientLoad(SpecModel):
    """Clients of a gateway, each with its subscription, in one of the scenarios of fan-out."""

    clients: Annotated[Count, Field(ge=1)]
    scenario: str
    gateways: Annotated[Count, Field(ge=1)] = 1
    swarms: Annotated[Count, Field(ge=1)] = 1
    peak_clients: int | None = None
    """The most that the same swarms had before, which live from point to point as no gateway does; what they
    took once is kept. None: nothing."""

    def causes(self, quantity: str) -> Causes:
        processes = {"gateway": self.gateways, "swarm": self.swarms}.get(quantity.partition("_")[0], 0)
        if quantity in OF_ALL_SCENARIOS:
            had_some = processes if self.peak_clients else 0
            return (float(processes), float(max(self.clients, self.peak_clients or 0)), float(had_some))
        return (float(processes), float(self.clients))
