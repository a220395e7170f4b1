"""server.properties of a broker, and the ids and ports that go into it."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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
    door_ports: tuple[int, ...] = ()
    """Where clients come who have to show who they are, a way to do so each; then nobody else gets in at the
    client port but brokers and we ourselves."""

    @property
    def name(self) -> str:
        return f"broker-{self.id}"

    @property
    def initial_controller(self) -> str:
        """As `StorageTool format --initial-controllers` takes it."""
        return f"{self.id}@{HOST}:{self.controller_port}:{self.directory_id}"


class Locking(Protocol):
    def lock(self, node: Node, properties: dict[str, str]) -> None:
        """Put listeners with locks in the place of those without."""


def new_nodes(count: int, doors: int = 0) -> list[Node]:
    """Nodes with ids from 1 up, on ports that are free now, each with so many doors."""
    ports = iter(free_ports((3 + doors) * count))

    def node(number: int) -> Node:
        client, controller, outside, *others = (next(ports) for _ in range(3 + doors))
        return Node(number, client, controller, new_uuid(), outside, tuple(others))

    return [node(number) for number in range(1, count + 1)]


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
    security: Locking | None = None,
    link_port: int | None = None,
) -> dict[str, str]:
    """The whole file of one node; `overrides` win over everything but the cluster's wiring.

    `outside`: a further address, where clients have to log in. `security`: nobody gets in without.
    `link_port`: where agents come to a proxy of ours that stands before the node; other brokers and the
    launcher never do.
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
    if security is not None:
        security.lock(node, properties)
    if outside is not None:
        _open_to(outside, node, properties, link_port or node.outside_port)
    elif link_port is not None:
        _listen(properties, "LINKED", "PLAINTEXT", (HOST, node.outside_port), link_port)
    return {**properties, **overrides}


def _listen(
    properties: dict[str, str], name: str, protocol: str, place: tuple[str, int], told_port: int
) -> None:
    """Clients are told to come to `told_port` of the same address."""
    properties["listeners"] += f",{name}://{with_port(*place)}"
    properties["advertised.listeners"] += f",{name}://{with_port(place[0], told_port)}"
    properties["listener.security.protocol.map"] += f",{name}:{protocol}"


def _open_to(outside: Outside, node: Node, properties: dict[str, str], told_port: int) -> None:
    place = (outside.address, node.outside_port)
    _listen(properties, "OUTSIDE", "SASL_PLAINTEXT", place, told_port)
    properties["listener.name.outside.sasl.enabled.mechanisms"] = "PLAIN"
    properties["listener.name.outside.plain.sasl.jaas.config"] = (
        f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{RUN_USER}="{outside.token}";'
    )


def check_overrides(overrides: Mapping[str, str]) -> None:
    for name in overrides:
        if name in _OWN or name.startswith(_OWN_PREFIXES):
            raise BadInput(f"broker property {name!r} cannot be set: the cluster's wiring depends on it")


def with_identity(meta_properties: str, node: Node) -> str:
    """The meta.properties of another node of the same cluster."""
    text = re.sub(r"(?m)^node\.id=.*$", f"node.id={node.id}", meta_properties)
    return re.sub(r"(?m)^directory\.id=.*$", f"directory.id={node.directory_id}", text)
