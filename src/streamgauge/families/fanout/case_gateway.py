"""The gateway of a fan-out's case: fresh for each, so that no case meets what another one left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import LOGIN, RUN_USER, Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.own_gateway import gateway_configuration, gateway_of
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.launch.conduct import CaseSystem
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work


@contextmanager
def case_gateway(
    run: RunDir, case: Case, system: TargetSystem, outside: Outside | None = None
) -> Iterator[CaseSystem]:
    """A gateway on this host where the case's clients are those of one that does not run already, and has no
    host of its own; else nothing."""
    point = as_work(case.work, FanoutPoint)
    if point.via != "gateway" or case.target.settings.get("gateway") or point.gateway_hosts:
        yield CaseSystem()
        return
    bootstrap = case.target.settings.get("bootstrap") or system.endpoints.get("bootstrap")
    if not bootstrap:
        raise BadInput(
            f"target {case.target.name}: settings.bootstrap: no Kafka address, and no system to start"
        )
    folder = (run.local("logs") if run.is_local else Path.cwd() / f"{run.id}-logs") / f"case-{case.id}"
    folder.mkdir(parents=True, exist_ok=True)
    configuration = gateway_configuration(point, case.topics[0], str(bootstrap))
    with gateway_of(point, configuration, folder, outside) as gateway:
        processes = {name: ("gateway", pid) for name, pid in gateway.processes().items()}
        endpoints = gateway.endpoints()
        if outside is not None:
            endpoints[f"gateway{LOGIN}"] = RUN_USER
        yield CaseSystem(endpoints, processes, members=gateway.members(), ended=gateway.ended)
