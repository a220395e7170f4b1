"""Clients of a push gateway: what is sent to Kafka comes back to them over WebSocket, in TLCP.

Sending and topics are Kafka's matter, so this driver is librdkafka there. Its clients come in swarms.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import Consumer, ConsumerOptions
from streamgauge.drivers.kafka.confluent.driver import KafkaConfluent
from streamgauge.drivers.kafka.confluent.driver import Settings as KafkaSettings
from streamgauge.drivers.push.access import AccessSettings, access_to
from streamgauge.drivers.push.opening import open_swarm
from streamgauge.drivers.swarm import Heard, HeardRows, Swarm, SwarmDriver, SwarmOptions
from streamgauge.spec.target import Target


class Settings(KafkaSettings, AccessSettings):
    """Of Kafka, and of the gateway. `read: objects`: its sessions are read in Python, on picows."""


class PushWebsocket(KafkaConfluent, SwarmDriver):
    name = "push_websocket"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(target, endpoints)
        assert isinstance(self.settings, Settings)
        self._access = access_to(self.settings, endpoints)

    def library_version(self) -> dict[str, Any]:
        names = ("picows", "uvloop")
        return {**super().library_version(), **{name: version(name) for name in names}}

    def consumer(self, options: ConsumerOptions) -> Consumer:
        raise BadInput(
            f"target {self.target.name}: driver {self.name} has no single consumers: its clients come in "
            "swarms; use `fanout` (streamgauge fanout) instead of `load`"
        )

    def swarm(self, options: SwarmOptions, heard: Heard, heard_rows: HeardRows | None = None) -> Swarm:
        if self._access is None:
            raise BadInput(f"target {self.target.name}: settings.gateway: no gateway, and none was started")
        assert isinstance(self.settings, Settings)
        as_objects = self.settings.read == "objects"
        return open_swarm(options, heard, self._access, heard_rows, as_objects=as_objects)
