"""Clients of a push gateway: what is sent to Kafka comes back to them over WebSocket, in TLCP.

Sending and topics are Kafka's matter, so this driver is librdkafka there. Its clients come in swarms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from pydantic import field_validator

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import Consumer, ConsumerOptions
from streamgauge.drivers.kafka.confluent.driver import KafkaConfluent
from streamgauge.drivers.kafka.confluent.driver import Settings as KafkaSettings
from streamgauge.drivers.push.swarm import PushSwarm
from streamgauge.drivers.swarm import ADAPTER_SET, Heard, Swarm, SwarmDriver, SwarmOptions
from streamgauge.spec.target import Target


class Settings(KafkaSettings):
    gateway: str | None = None
    """http://host:port of a gateway that runs already; else one is started for each case."""
    adapter_set: str = ADAPTER_SET

    @field_validator("gateway")
    @classmethod
    def _address(cls, gateway: str | None) -> str | None:
        if gateway is not None and not re.fullmatch(r"http://[^/\s]+:\d{1,5}/?", gateway):
            raise ValueError(f"{gateway!r} is no address of a gateway; allowed: http://host:port")
        return gateway


class PushWebsocket(KafkaConfluent, SwarmDriver):
    name = "push_websocket"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(target, endpoints)
        assert isinstance(self.settings, Settings)
        self._gateway = self.settings.gateway or endpoints.get("gateway")
        self._adapter_set = self.settings.adapter_set

    def library_version(self) -> dict[str, Any]:
        names = ("picows", "uvloop")
        return {**super().library_version(), **{name: version(name) for name in names}}

    def consumer(self, options: ConsumerOptions) -> Consumer:
        raise BadInput(
            f"target {self.target.name}: driver {self.name} has no single consumers: its clients come in "
            "swarms; use `fanout` (streamgauge fanout) instead of `load`"
        )

    def swarm(self, options: SwarmOptions, heard: Heard) -> Swarm:
        if self._gateway is None:
            raise BadInput(f"target {self.target.name}: settings.gateway: no gateway, and none was started")
        return PushSwarm(options, heard, self._gateway, self._adapter_set)
