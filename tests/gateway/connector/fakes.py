"""Stand-ins at the edges: a message of confluent-kafka, and the server that listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamgauge.gateway.connector.configuration import nested
from streamgauge.gateway.connector.connection_settings import ConnectionSettings


@dataclass
class Message:
    """What confluent-kafka's Message answers."""

    value_: bytes | None = None
    key_: bytes | None = None
    topic_: str = "t"
    partition_: int = 0
    offset_: int = 0
    timestamp_ms: int = 1_700_000_000_000
    headers_: list[tuple[str, bytes | None]] | None = None

    def value(self) -> bytes | None:
        return self.value_

    def key(self) -> bytes | None:
        return self.key_

    def topic(self) -> str:
        return self.topic_

    def partition(self) -> int:
        return self.partition_

    def offset(self) -> int:
        return self.offset_

    def timestamp(self) -> tuple[int, int]:
        return (1, self.timestamp_ms)

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return self.headers_

    def error(self) -> None:
        return None


@dataclass
class Listening:
    """A server that notes what it is told."""

    events: list[tuple[Any, ...]] = field(default_factory=list)

    def publish(self, item: str, fields: Mapping[str, str | None], *, snapshot: bool = False) -> None:
        self.events.append(("update", item, dict(fields), snapshot))

    def clear_snapshot(self, item: str) -> None:
        self.events.append(("clear", item))

    def end_of_snapshot(self, item: str) -> None:
        self.events.append(("end", item))

    def source_failed(self, why: str) -> None:
        self.events.append(("failed", why))

    def updates(self) -> list[tuple[str, dict[str, str | None]]]:
        return [(event[1], event[2]) for event in self.events if event[0] == "update"]


def connection(**parameters: Any) -> ConnectionSettings:
    """Topic `t` to item `i`, with a field `v`, unless the parameters say otherwise; dots as __."""
    given = {"bootstrap.servers": "127.0.0.1:9"}
    given |= {name.replace("__", "."): value for name, value in parameters.items()}
    if not any(name.startswith("map.") and name.endswith(".to") for name in given):
        given["map.t.to"] = "i"
    if not any(name.startswith("field.") for name in given):
        given["field.v"] = "#{VALUE}"
    return ConnectionSettings.model_validate(nested(given, ConnectionSettings))
