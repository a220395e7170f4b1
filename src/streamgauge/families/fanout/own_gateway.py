"""A gateway that is started for a case, wherever: what it reads, and who may come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from streamgauge.core.outside import Outside
from streamgauge.drivers.swarm import ADAPTER_SET
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.scenario_messages import keys_of
from streamgauge.gateway.server.authentication import ANYBODY, user_line
from streamgauge.gateway.server.settings import Limits
from streamgauge.systems.push_gateway import PushGateway

_JSONPATCH_MIN_LENGTH = 500
"""As in the benchmark that this follows."""


def gateway_of(
    point: FanoutPoint, configuration: dict[str, Any], folder: Path, outside: Outside | None
) -> PushGateway:
    """Not started yet. `outside`: the address that clients on other hosts come to, and their token."""
    config = folder / "gateway.yaml"
    config.write_text(yaml.safe_dump(configuration))
    config.chmod(0o600)
    settings: dict[str, Any] = {}
    if point.mapping.diff is not None:
        settings = {
            "default_diff_order": [point.mapping.diff],
            "jsonpatch_min_length": _JSONPATCH_MIN_LENGTH,
        }
    if outside is not None:
        settings |= _open_to(outside, folder)
    return PushGateway(config=config, log_dir=folder, processes=point.gateway_processes, settings=settings)


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
        # The topic is new: clients are there before its first message. One that is started again must not
        # send them all once more.
        "record.consume.from": "LATEST" if point.faults else "EARLIEST",
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
