"""Aeron over shared memory (ipc) or UDP, by its Java client in this process.

A partition is a stream. Nobody keeps what was sent: what a subscriber does not get in time is gone. A
message lies before the position at which it ends, so its offset is that of its last byte.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import jpype
from pydantic import Field

from streamgauge.core.errors import BadInput, StreamgaugeError, Unreachable
from streamgauge.drivers.aeron.clients import AeronConsumer, AeronProducer, Wiring
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Producer, ProducerOptions
from streamgauge.drivers.engine import JvmDriver
from streamgauge.drivers.fleeting import FleetingDriver
from streamgauge.drivers.transports_java import LOCK, failed, java_class, start_java
from streamgauge.jvm.aeron_directory import driver_state
from streamgauge.jvm.jars import locked_version
from streamgauge.spec.model import SpecModel
from streamgauge.spec.reach import FileName, JavaOptions
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_HOST = "127.0.0.1"
_GONE = "the media driver is gone"
"""What AeronClient.java says."""
_FRESH_S = 1.2
"""A driver says something every second."""
_LOOK_S = 0.05


class Settings(SpecModel):
    transport: Literal["ipc", "udp"] = "ipc"
    channel: str | None = None
    """Aeron's own way to say it, instead of `transport` and `port`."""
    port: int | None = Field(default=None, ge=1, le=65535)
    """On 127.0.0.1, for udp; by default a free one."""
    reliable: bool = True
    """Over udp: what was lost is asked for again. False: it stays lost, and nobody waits for it."""
    directory: FileName | None = None
    """Of a media driver that runs already; by default that of the system."""
    idle: Literal["spin", "yield", "backoff"] = "yield"
    """What a client does that has found nothing to do."""
    driver_timeout_ms: int = Field(default=3000, ge=1500)
    """A driver that has not been heard of for so long is gone; it says something every second."""
    java_options: JavaOptions = ()


class Aeron(FleetingDriver, JvmDriver):
    name = "aeron"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(endpoints)
        self.settings = Settings.model_validate(target.settings)
        directory = self.settings.directory or endpoints.get("directory")
        if not directory:
            raise BadInput(
                f"target {target.name}: settings.directory: no media driver, and no system to start"
            )
        self._directory = Path(directory)
        self._port = endpoints.get("port") or (self.settings.port and str(self.settings.port))
        self._client: Any = None

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        """One that was heard of lately may be dead: wait for its next word, or until it is late for sure."""
        deadline = time.monotonic() + deadline_s
        while True:
            state = driver_state(self._directory)
            if not state.is_there:
                raise Unreachable(f"{self._directory}: no media driver has its files there; is it running?")
            if state.heartbeat_age_s < _FRESH_S or not state.is_alive or time.monotonic() > deadline:
                break
            time.sleep(_LOOK_S)
        if not state.is_alive:
            raise Unreachable(
                f"{self._directory}: its media driver has not been heard of for {state.heartbeat_age_s:.0f} s"
            )
        return {"aeron": locked_version(LOCK, "aeron-all"), "channel": self.channel(), "pid": state.pid}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        """There is nothing to make: a stream is there when somebody publishes to it."""
        self._partitions = topics.partitions
        if self.settings.transport == "udp" and self._port is None:
            self._port = _free_port()
        return list(names)

    def remove_topics(self, names: list[str]) -> None:
        """They are gone with their clients, and so is a port that was ours."""
        if self.settings.port is None:
            self._port = None

    def endpoints(self) -> dict[str, str]:
        return {**super().endpoints(), **({"port": self._port} if self._port else {})}

    def channel(self) -> str:
        if self.settings.channel is not None:
            return self.settings.channel
        if self.settings.transport == "ipc":
            return "aeron:ipc"
        repaired = "" if self.settings.reliable else "|reliable=false"
        return f"aeron:udp?endpoint={_HOST}:{self._port or 0}{repaired}"

    def producer(self, options: ProducerOptions) -> Producer:
        return AeronProducer(
            self._wiring(f"producer {options.number}"), options, self._partitions, self._ends
        )

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return AeronConsumer(self._wiring(f"consumer {options.number}"), options, self.settings.idle)

    def outlet(self, options: ProducerOptions, fates: Any) -> Any:
        return self._wiring(f"producer {options.number}").outlet(options.topics[0], 0)

    def inlet(self, options: ConsumerOptions) -> Any:
        return self._wiring(f"consumer {options.number}").inlet(options.topics[0], 0)

    def loop_facts(self, options: ProducerOptions | ConsumerOptions) -> dict[str, Any]:
        return self._facts()

    def _facts(self) -> dict[str, Any]:
        return {"channel": self.channel(), "idle": self.settings.idle, "directory": str(self._directory)}

    @property
    def idle(self) -> str:
        return self.settings.idle

    def start_java(self) -> None:
        start_java(self.settings.java_options)

    def _wiring(self, who: str) -> Wiring:
        self.start_java()
        if self._client is None:
            self._client = self._called(
                who, lambda: java_class("AeronClient")(str(self._directory), self.settings.driver_timeout_ms)
            )
        return Wiring(self._client, self.channel(), who, self._called, self._facts())

    def _called(self, who: str, call: Callable[[], Any]) -> Any:
        """What `call` gives; Aeron's complaints in our words."""
        try:
            return call()
        except jpype.JException as error:
            raise self._mapped(who, error) from None

    def _mapped(self, who: str, error: Any) -> StreamgaugeError:
        said, name = str(error.getMessage()), str(error.getClass().getSimpleName())
        if "Address already in use" in said:
            return BadInput(f"{who}: {self.channel()}: the port is in use; set settings.port to a free one")
        if "storage" in said and "insufficient" in said.lower():
            return BadInput(
                f"{who}: {self._directory} has no room for Aeron's buffers: {said}; enlarge it "
                f"(mount -o remount,size=2g /dev/shm) or set aeron.term.buffer.length lower"
            )
        is_gone = name == "DriverTimeoutException" or _GONE in said
        if is_gone or not driver_state(self._directory).is_alive:
            why = said.removeprefix(f"{_GONE}: ")
            return failed(who, f"the media driver at {self._directory} is gone", why)
        return failed(who, f"Aeron ({self.channel()})", said)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


def _free_port() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((_HOST, 0))
        return str(probe.getsockname()[1])
