"""The gateway of a fan-out's case: fresh for each, so that no case meets what another one left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import LOGIN, RUN_USER, Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.swarm import ADAPTER_SET
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.scenario_messages import keys_of
from streamgauge.gateway.server.authentication import ANYBODY, user_line
from streamgauge.gateway.server.settings import Limits
from streamgauge.launch.conduct import CaseSystem
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work
from streamgauge.systems.push_gateway import PushGateway

_JSONPATCH_MIN_LENGTH = 500
"""As in the benchmark that this follows."""


@contextmanager
def case_gateway(
    run: RunDir, case: Case, system: TargetSystem, outside: Outside | None = None
) -> Iterator[CaseSystem]:
    """A gateway where the case's clients are those of one that does not run already; else nothing."""
    point = as_work(case.work, FanoutPoint)
    if point.via != "gateway" or case.target.settings.get("gateway"):
        yield CaseSystem()
        return
    bootstrap = case.target.settings.get("bootstrap") or system.endpoints.get("bootstrap")
    if not bootstrap:
        raise BadInput(
            f"target {case.target.name}: settings.bootstrap: no Kafka address, and no system to start"
        )
    folder = (run.local("logs") if run.is_local else Path.cwd() / f"{run.id}-logs") / f"case-{case.id}"
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "gateway.yaml"
    config.write_text(yaml.safe_dump(gateway_configuration(point, case.topics[0], str(bootstrap))))
    settings: dict[str, Any] = {}
    if point.mapping.diff is not None:
        settings = {
            "default_diff_order": [point.mapping.diff],
            "jsonpatch_min_length": _JSONPATCH_MIN_LENGTH,
        }
    if outside is not None:
        settings |= _open_to(outside, folder)
    gateway = PushGateway(config=config, log_dir=folder, processes=point.gateway_processes, settings=settings)
    with gateway:
        processes = {name: ("gateway", pid) for name, pid in gateway.processes().items()}
        endpoints = gateway.endpoints()
        if outside is not None:
            endpoints[f"gateway{LOGIN}"] = RUN_USER
        yield CaseSystem(endpoints, processes, ended=gateway.ended)


def _open_to(outside: Outside, folder: Path) -> dict[str, Any]:
    """Settings of a gateway for clients on other hosts: whoever brings the run's token may come.

    A follower's clients all have its address; a limit of each address is one against strangers, and these
    have no sessions.
    """
    users = folder / "users"
    users.write_text(user_line(ANYBODY, outside.token, is_token=True) + "\n")
    users.chmod(0o600)
    return {
        "host": outside.address,
        "users": str(users),
        "limits": {"sessions_per_address": Limits().sessions, "items_of_address": Limits().items_of_all},
    }


def gateway_configuration(point: FanoutPoint, topic: str, bootstrap: str) -> dict[str, Any]:
    """As a `gateway.yaml` has it; the scenario's mapping is that of the benchmark that this follows."""
    mapping = point.mapping
    item = mapping.item
    connection: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        # The topic is new: clients are there before its first message.
        "record.consume.from": "EARLIEST",
        **{f"field.{name}": expression for name, expression in mapping.fields.items()},
    }
    if mapping.json:
        connection["record.value.evaluator.type"] = "JSON"
    if keys_of(mapping.kind):
        connection[f"item-template.{item}"] = f"{item}-#{{key=KEY}}"
        connection[f"map.{topic}.to"] = f"item-template.{item}"
    else:
        connection[f"map.{topic}.to"] = item
    return {"adapter_set": ADAPTER_SET, "connections": {"Fanout": connection}}
