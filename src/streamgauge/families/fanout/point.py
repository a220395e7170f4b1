"""One point of a fan-out: so many clients, by one way, in one scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.steady_state import SLOT_S
from streamgauge.families.fanout.names import ScenarioName
from streamgauge.families.fanout.scenario_messages import keys_of
from streamgauge.families.fanout.schedule import Schedule
from streamgauge.families.fanout.section import SCENARIOS, Fanout, Scenario
from streamgauge.families.fanout.targets import is_of_a_gateway
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.model import SpecModel
from streamgauge.spec.settling import SettlingTerms
from streamgauge.spec.target import Target

Via = Literal["kafka-groups", "kafka-standalone", "gateway"]

_SESSIONS_PER_GATEWAY = 17_000
"""Below what one process may have: the kernel deals connections out unevenly."""


_RAMP_UP_PER_S: dict[Via, float] = {"kafka-groups": 200.0, "kafka-standalone": 200.0, "gateway": 2000.0}
"""A Kafka client is four threads and several connections; a broker to which all come at once answers none."""


class FanoutPoint(SpecModel):
    scenario: ScenarioName
    clients: int
    via: Via
    series: str
    fanout: Fanout

    @property
    def mapping(self) -> Scenario:
        return SCENARIOS[self.scenario]

    @property
    def fields(self) -> tuple[str, ...]:
        """Those that a gateway's clients ask for, in their order."""
        return self.fanout.fields or tuple(self.mapping.fields)

    @property
    def gateway_processes(self) -> int:
        """Of one gateway."""
        clients = math.ceil(self.clients / max(1, len(self.gateway_hosts)))
        return self.fanout.gateway_processes or math.ceil(clients / _SESSIONS_PER_GATEWAY)

    @property
    def gateway_hosts(self) -> tuple[str, ...]:
        return self.fanout.gateway_hosts if self.via == "gateway" else ()

    @property
    def ramp_up_per_s(self) -> float:
        return self.fanout.ramp_up_per_s or _RAMP_UP_PER_S[self.via]

    @property
    def rate_per_s(self) -> float:
        return self.fanout.rate_per_s(self.scenario)

    @property
    def warm_up_s(self) -> float | None:
        """None: it goes on until the load is at rest."""
        return None if self.fanout.warm_up == "auto" else self.fanout.warm_up

    @property
    def fixed_warm_up_s(self) -> float:
        return self.warm_up_s or 0.0

    @property
    def faults(self) -> tuple[FaultSpec, ...]:
        return self.fanout.faults

    @property
    def settling(self) -> SettlingTerms | None:
        if self.warm_up_s is not None:
            return None
        # Every update of a message comes at about the same time: what counts is how often messages do.
        together = math.ceil(1 / (self.rate_per_s * SLOT_S))
        return SettlingTerms(self.fanout.warm_up_limit, self.fanout.duration, together)

    @property
    def message_count(self) -> int:
        """Warm-up and measured ones, as far as they are known beforehand."""
        return max(1, round(((self.warm_up_s or 0.0) + self.fanout.duration) * self.rate_per_s))

    @property
    def measured_updates(self) -> int:
        """At the most: each measured client gets every message, or from a gateway those of its key."""
        wanted = self.fanout.measured
        clients = self.clients if wanted == "all" else min(wanted, self.clients)
        keys = len(keys_of(self.mapping.kind)) if self.via == "gateway" else 0
        return clients * math.ceil(self.message_count / max(1, keys))

    @property
    def is_conflated(self) -> bool:
        """Whether updates may be left out on purpose: a gateway sends the newest of an item in its turn."""
        return self.via == "gateway" and self.fanout.max_frequency != "unfiltered"

    def schedule(self, start_ns: int) -> Schedule:
        """As it is known at the start."""
        ahead = None if self.warm_up_s is None else round(self.warm_up_s * self.rate_per_s)
        return Schedule(start_ns, self.rate_per_s, ahead, self.message_count - (ahead or 0))

    def keys(self, seed: int, of: int) -> NDArray[np.int64]:
        """Which of the keys each client follows."""
        return np.random.default_rng(seed).integers(0, max(1, of), self.clients)

    def measured(self, seed: int) -> frozenset[int]:
        """The clients that time their updates, drawn at random: who came first has no better chance."""
        wanted = self.fanout.measured
        count = self.clients if wanted == "all" else min(wanted, self.clients)
        drawn = np.random.default_rng(seed + 1).choice(self.clients, count, replace=False)
        return frozenset(int(number) for number in drawn)

    def agents(self) -> Iterator[AgentTask]:
        """One that generates, as many as hold the clients, and gateways that have hosts of their own.

        A swarm's clients are all of one gateway, so there are at least as many swarms as gateways.
        """
        yield AgentTask(kind="producer", number=0, messages=self.message_count)
        for number, hostname in enumerate(self.gateway_hosts):
            yield AgentTask(kind="gateway", number=number, hostname=hostname)
        fanout, hosts = self.fanout, self.fanout.swarm_hosts
        most = fanout.push_clients_per_process if self.via == "gateway" else fanout.kafka_clients_per_process
        least = max(1, len(hosts), len(self.gateway_hosts))
        processes = min(self.clients, max(math.ceil(self.clients / most), least))
        bounds = [self.clients * number // processes for number in range(processes + 1)]
        for number in range(processes):
            first, end = bounds[number], bounds[number + 1]
            host = hosts[number % len(hosts)] if hosts else None
            yield AgentTask(kind="swarm", number=number, share=(first, end - first), hostname=host)


def points_of(fanout: Fanout, target: Target) -> Iterator[FanoutPoint]:
    """The series of a target: scenario after scenario, from few clients to many."""
    via: Via = "gateway" if is_of_a_gateway(target) else "kafka-standalone"
    if via != "gateway" and target.name in fanout.groups:
        via = "kafka-groups"
    told: set[object] = set()
    for scenario in fanout.scenarios:
        # How a gateway maps them is nothing to Kafka's own clients.
        same = scenario if via == "gateway" else (SCENARIOS[scenario].kind, fanout.rate_per_s(scenario))
        if same in told:
            continue
        told.add(same)
        series = target.name if len(fanout.scenarios) == 1 else f"{target.name} {scenario}"
        for clients in fanout.clients:
            yield FanoutPoint(scenario=scenario, clients=clients, via=via, series=series, fanout=fanout)
