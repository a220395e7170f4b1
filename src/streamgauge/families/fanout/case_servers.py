"""All that delivers in a case: what is started for it, and what was there before and is only watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from streamgauge.agents.sampler import Told
from streamgauge.core.outside import Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.broker_metrics import BrokerMetrics, asking
from streamgauge.families.fanout.case_gateway import case_gateway
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.port_traffic import port_traffic
from streamgauge.families.fanout.servers_there import (
    ServersThere,
    brokers_there,
    check_one_each,
    gateway_there,
)
from streamgauge.launch.conduct import CaseSystem
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work

Traffic = dict[str, Callable[[], tuple[int, int] | None]]


@contextmanager
def case_servers(
    run: RunDir, case: Case, system: TargetSystem, outside: Outside | None = None
) -> Iterator[CaseSystem]:
    point = as_work(case.work, FanoutPoint)
    urls, brokers, gateway = point.fanout.broker_metrics, ServersThere(), ServersThere()
    if urls:
        check_one_each(case.target, urls)
    elif not system.processes:
        brokers = brokers_there(case.target)
    if point.via == "gateway" and (address := case.target.settings.get("gateway")):
        gateway = gateway_there(str(address))
    with asking(urls) as metrics, case_gateway(run, case, system, outside) as own:
        yield replace(
            own,
            processes={**brokers.processes, **gateway.processes, **own.processes},
            traffic=_counted({**_ports(system), **brokers.ports}) if point.via == "gateway" else {},
            told={name: ("broker", partial(_latest, one)) for name, one in metrics.items()},
        )


def _latest(one: BrokerMetrics) -> Told:
    return one.latest


def _ports(system: TargetSystem) -> dict[str, int]:
    """By name, those that brokers of ours listen on."""
    addresses = system.endpoints.get("bootstrap", "").split(",")
    names = [name for name in system.processes if name.startswith("broker")]
    if len(names) != len(addresses):
        return {}
    ports = [int(address.rpartition(":")[2]) for address in addresses]
    return dict(zip(names, ports, strict=True))


def _counted(ports: dict[str, int]) -> Traffic:
    """What a broker sends to a gateway and gets from the generator: that few connections are soon counted.

    Kafka's own clients count for themselves, and by the thousand.
    """

    def count(port: int) -> tuple[int, int] | None:
        told = port_traffic(port)
        return None if told is None else (told.sent_bytes, told.received_bytes)

    return {name: partial(count, port) for name, port in ports.items()}
