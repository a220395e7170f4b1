"""The life of a gateway on a host of its own: it serves the clients of some swarms, and ends after them."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import NS_PER_S, now_ns, sleep_until
from streamgauge.core.environment import host_name
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.outside import LOGIN, RUN_USER, Outside, own_address, run_token
from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.families.fanout.life import FanoutLife
from streamgauge.families.fanout.own_gateway import gateway_configuration, gateway_of
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.systems.push_gateway import PushGateway

_LOOK_NS = 100_000_000
_LAST_S = 15.0
"""That swarms have to write what they got, after the time to drain."""
_START_DEADLINE_S = 60.0


class GatewayLife(FanoutLife):
    """Its address is told to the swarms through the run folder, before anybody is ready."""

    _gateway: PushGateway | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def run(self, rendezvous: Rendezvous) -> None:
        self._folder = folder = tempfile.TemporaryDirectory(
            dir=temporary_folder(), ignore_cleanup_errors=True
        )
        self._gateway = gateway = self._made(Path(folder.name))
        gateway.launch()
        gateway.wait_ready(_START_DEADLINE_S)
        assignment = self.assignment
        tell_gateway(
            assignment.run_dir, assignment.case, assignment.task.agent, gateway.endpoints()["gateway"]
        )
        agent = assignment.task.agent
        self.sample({f"{agent}, {name}": ("gateway", pid) for name, pid in gateway.processes().items()})
        reading = self.mark_connected()
        start = rendezvous.ready(reading, meanwhile=lambda: sleep_until(now_ns() + _LOOK_NS))
        self.begin(reading, start)
        with self.watched((), start, rendezvous):
            while not (rendezvous.producers_finished() or rendezvous.stopping()):
                self._check(gateway)
        self._outlive_swarms(gateway, rendezvous)
        self.mark("drained", now_ns())
        if rendezvous.stopping():
            self.manifest.outcome = "stopped"

    def _made(self, folder: Path) -> PushGateway:
        assignment = self.assignment
        endpoints, settings = assignment.endpoints, assignment.target.settings
        bootstrap = settings.get("bootstrap") or endpoints.get("bootstrap")
        if not bootstrap:
            name = assignment.target.name
            raise BadInput(f"target {name}: settings.bootstrap: no Kafka address, and no system to start")
        host, _, port = str(bootstrap).partition(",")[0].rpartition(":")
        outside = Outside(own_address(host.strip("[]"), int(port)), run_token()) if _has_token() else None
        configuration = gateway_configuration(self.point, assignment.topics[0], str(bootstrap))
        if outside is not None and f"bootstrap{LOGIN}" in endpoints and not settings.get("bootstrap"):
            for connection in configuration["connections"].values():
                connection.update(_login(outside.token))
        return gateway_of(self.point, configuration, folder, outside)

    def _check(self, gateway: PushGateway) -> None:
        if (why := gateway.ended()) is not None:
            raise CaseFailed(f"on {host_name()}: {why}")
        sleep_until(now_ns() + _LOOK_NS)

    def _outlive_swarms(self, gateway: PushGateway, rendezvous: Rendezvous) -> None:
        """Until each has written what it got."""
        run, case = self.assignment.run_dir, self.assignment.case
        swarms = [task.agent for task in self.point.agents() if task.kind == "swarm"]
        until_ns = now_ns() + int((self.point.fanout.drain_timeout + _LAST_S) * NS_PER_S)
        while swarms and not rendezvous.stopping() and now_ns() < until_ns:
            self._check(gateway)
            swarms = [agent for agent in swarms if not run.has(run.manifest(case, agent))]

    def keep(self) -> None:
        """Its use is in the samples; what it delivered, its clients know."""
        if self._folder is not None:
            log = Path(self._folder.name) / "gateway.log"
            if log.exists():
                run, task = self.assignment.run_dir, self.assignment.task
                run.write_bytes(run.log(f"case-{self.assignment.case}/{task.agent}"), log.read_bytes())

    def let_go(self) -> None:
        if self._gateway is not None:
            self._gateway.stop()
        if self._folder is not None:
            self._folder.cleanup()


def tell_gateway(run: RunDir, case: str, agent: str, address: str) -> None:
    run.write_json(_place(run, case, agent), {"address": address})


def gateway_endpoints(
    run: RunDir, case: str, point: FanoutPoint, swarm: int, deadline_s: float
) -> dict[str, str]:
    """Those of the gateway that a swarm's clients come to; none where gateways have no hosts of their own."""
    if not point.gateway_hosts:
        return {}
    number = swarm % len(point.gateway_hosts)
    place, until_s = _place(run, case, f"gateway-{number}"), time.monotonic() + deadline_s
    while not run.has(place):
        if time.monotonic() > until_s:
            host = point.gateway_hosts[number]
            raise CaseFailed(f"the gateway on {host} was not there within {deadline_s:g} s")
        time.sleep(_LOOK_NS / NS_PER_S)
    told: Mapping[str, Any] = run.read_json(place)
    login = {f"gateway{LOGIN}": RUN_USER} if _has_token() else {}
    return {"gateway": str(told["address"]), **login}


def _place(run: RunDir, case: str, agent: str) -> str:
    return f"{run.meeting('gateways')}/{case}-{agent}.json"


def _has_token() -> bool:
    """Agents that all run on the launcher's host need none."""
    return IDENTITY_VARIABLE in os.environ


def _login(token: str) -> dict[str, str]:
    """Parameters of a connection to a Kafka that the run has started, for those who are elsewhere."""
    prefix = "authentication."
    return {
        f"{prefix}enable": "true",
        f"{prefix}mechanism": "PLAIN",
        f"{prefix}username": RUN_USER,
        f"{prefix}password": token,
    }
