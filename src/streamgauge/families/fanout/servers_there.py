"""Servers that a fan-out uses and did not start: which processes of this machine they are, if they are here.

Brokers are those that the cluster itself names, all of them or none: the use of some would be taken for that
of all. How each was found is part of its name in the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.units import counted
from streamgauge.drivers.kafka.driver import KafkaDriver
from streamgauge.drivers.push.access import parse_gateway
from streamgauge.drivers.registry import open_driver
from streamgauge.families.fanout.names import FOUND
from streamgauge.spec.secrets import environment_of, fill_in
from streamgauge.spec.target import Target
from streamgauge.systems.listening import processes_at

_ASK_DEADLINE_S = 10.0

Place = tuple[str, int]


@dataclass
class ServersThere:
    processes: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Name → kind in the samples, process id."""
    ports: dict[str, int] = field(default_factory=dict)
    """The same names → the port that each listens on."""

    def add(self, kind: str, number: int, port: int, pid: int) -> None:
        name = f"{kind}-{number} ({FOUND} {port}: process {pid})"
        self.processes[name], self.ports[name] = (kind, pid), port


def brokers_there(target: Target) -> ServersThere:
    """Of a target whose Kafka was given; none where one of them is elsewhere."""
    found = ServersThere()
    for number, (host, port) in enumerate(_brokers_of(target), 1):
        pids = processes_at(host, port)
        if len(pids) != 1:
            return ServersThere()
        found.add("broker", number, port, pids[0])
    return found


def check_one_each(target: Target, metrics: Sequence[str]) -> None:
    """BadInput when some brokers would be taken for all."""
    count = len(_brokers_of(target)) if target.system is None else target.system.process_count
    if count and count != len(metrics):
        raise BadInput(
            f"--broker-metrics: {len(metrics)} given, and target {target.name} has "
            f"{counted(count, 'broker')}: give one for each"
        )


def gateway_there(address: str) -> ServersThere:
    """All processes that share its port."""
    place, found = parse_gateway(address), ServersThere()
    for number, pid in enumerate(processes_at(place.host, place.port), 1):
        found.add("gateway", number, place.port, pid)
    return found


def _brokers_of(target: Target) -> Sequence[Place]:
    driver = open_driver(fill_in(target, environment_of(target)), {})
    try:
        return driver.broker_places(_ASK_DEADLINE_S) if isinstance(driver, KafkaDriver) else ()
    except StreamgaugeError:
        return ()  # whoever has to use it says why it cannot be reached
    finally:
        driver.close()
