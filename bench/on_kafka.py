"""What every measurement on a Kafka has: its address, a target, topics, a bare C loop to measure against."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.bare_loop import BareLoop
from bench.kafka_tools import SOCKET_BYTES
from bench.ratio import own_topic
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

SOCKETS = {
    "socket.send.buffer.bytes": SOCKET_BYTES,
    "socket.receive.buffer.bytes": SOCKET_BYTES,
    # Java's clients never have it on.
    "socket.nagle.disable": True,
}


class OnKafka:
    """Everything runs against one broker with one partition."""

    def __init__(self, bootstrap: str, folder: Path, pairs: int) -> None:
        self._bootstrap, self._folder, self._pairs = bootstrap, folder, pairs
        self._target: dict[str, Any] = {
            "name": "kafka",
            "driver": "kafka_confluent",
            "settings": {"bootstrap": bootstrap},
        }
        self._admin = open_driver(Target.model_validate(self._target), {})
        self._client = {"bootstrap.servers": bootstrap}
        self._bare = BareLoop(folder)

    @contextmanager
    def _topic(self) -> Iterator[str]:
        topic = own_topic()
        self._admin.prepare_topics(Topics(name=topic), (topic,))
        try:
            yield topic
        finally:
            self._admin.remove_topics([topic])


def memory_line(sides: list[list[float]]) -> str:
    ours, theirs = (statistics.median(side) for side in sides)
    return f"… memory of the clients at its highest: ours {ours:.0f} MiB, theirs {theirs:.0f} MiB"
