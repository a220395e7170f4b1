"""server.properties of a broker, and the ids and ports that go into it."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import RUN_USER, Outside, with_port
from streamgauge.systems.ports import HOST, free_ports

ALLOWED_BROKERS = (1, 3, 5)

# What the cluster's own wiring depends on; changing these would only break the start.
_OWN = {"node.id", "broker.id", "process.roles", "listeners", "advertised.listeners", "log.dir", "log.dirs"}
_OWN_PREFIXES = ("controller.quorum.", "controller.listener.", "inter.broker.listener.")


@dataclass(frozen=True)
class Node:
    """One broker, which is a controller too."""

    id: int
    client_port: int
    controller_port: int
    directory_id: str
    outside_port: int = 0
    """Where clients on other hosts come, if any may."""

    @property
    def name(self) -> str:
        return f"broker-{self.id}"

    @property
    def initial_controller(self) -> str:
        """As `StorageTool format --initial-controllers` takes it."""
        return f"{self.id}@{HOST}:{self.controller_port}:{self.directory_id}"


def new_nodes(count: int) -> list[Node]:
    """Nodes with ids from 1 up, on ports that are free now."""
    ports = free_ports(3 * count)
    return [Node(i + 1, ports[3 * i], ports[3 * i + 1], new_uuid(), ports[3 * i + 2]) for i in range(count)]


def check_brokers(count: int) -> None:
    if count not in ALLOWED_BROKERS:
        raise BadInput(
            f"{count} brokers: a local Kafka cluster has 1, 3 or 5, so that its controllers can vote"
        )


def new_uuid() -> str:
    """A Kafka id: 16 random bytes in URL-safe base64 without padding.

    Kafka draws again when its text begins with "-", which a shell would take for an option.
    """
    while (text := base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")).startswith("-"):
        pass
    return text


def server_properties(
    node: Node,
    nodes: Sequence[Node],
    data: Path,
    overrides: Mapping[str, str],
    outside: Outside | None = None,
) -> dict[str, str]:
    """The whole file of one node; `overrides` win over everything but the cluster's wiring.

    `outside`: a further address, where clients have to log in.
    """
    check_overrides(overrides)
    if "," in str(data):
        raise BadInput(f"{data}: Kafka takes a comma in a data folder's name for two folders")
    copies = str(min(3, len(nodes)))
    in_sync = str(min(2, len(nodes)))
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.bootstrap.servers": ",".join(f"{HOST}:{n.controller_port}" for n in nodes),
        "listeners": f"PLAINTEXT://{HOST}:{node.client_port},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{node.client_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
        # A mistyped topic should be an error, not a new topic with one partition.
        "auto.create.topics.enable": "false",
        "default.replication.factor": copies,
        # The first consumer of a group starts at once instead of waiting 3 s for others.
        "group.initial.rebalance.delay.ms": "0",
    }
    for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        # 50 partitions are Kafka's default, and pure cost on one machine.
        properties[f"{topic}.num.partitions"] = "5"
        properties[f"{topic}.replication.factor"] = copies
    properties["transaction.state.log.min.isr"] = in_sync
    properties["share.coordinator.state.topic.min.isr"] = in_sync
    if outside is not None:
        _open_to(outside, node, properties)
    return {**properties, **overrides}


def _open_to(outside: Outside, node: Node, properties: dict[str, str]) -> None:
    place = f"OUTSIDE://{with_port(outside.address, node.outside_port)}"
    properties["listeners"] += f",{place}"
    properties["advertised.listeners"] += f",{place}"
    properties["listener.security.protocol.map"] += ",OUTSIDE:SASL_PLAINTEXT"
    properties["listener.name.outside.sasl.enabled.mechanisms"] = "PLAIN"
    properties["listener.name.outside.plain.sasl.jaas.config"] = (
        f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{RUN_USER}="{outside.token}";'
    )


def check_overrides(overrides: Mapping[str, str]) -> None:
    for name in overrides:
        if name in _OWN or name.startswith(_OWN_PREFIXES):
            raise BadInput(f"broker property {name!r} cannot be set: the cluster's wiring depends on it")


def render(properties: Mapping[str, str]) -> str:
    """The text of a Java properties file (which is read as Latin-1, hence the escapes)."""
    return "".join(f"{_escape(name)}={_escape(value)}\n" for name, value in properties.items())


def with_identity(meta_properties: str, node: Node) -> str:
    """The meta.properties of another node of the same cluster."""
    text = re.sub(r"(?m)^node\.id=.*$", f"node.id={node.id}", meta_properties)
    return re.sub(r"(?m)^directory\.id=.*$", f"directory.id={node.directory_id}", text)


def _escape(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    units = escaped.encode("utf-16-be")
    pairs = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in pairs)
