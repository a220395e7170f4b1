"""ZeroMQ PUSH/PULL over TCP: no broker, nothing is kept, nobody acknowledges.

A partition is a pair of sockets; the consumer binds, the producer connects. A message's offset is its
count, written before its value, so that both sides know the same one.
"""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import zmq
from pydantic import Field

from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Producer, ProducerOptions, Received
from streamgauge.drivers.fleeting import FleetingConsumer, FleetingDriver
from streamgauge.drivers.instant_acks import InstantProducer
from streamgauge.payload.making import Outgoing
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_NONE

_HOST = "127.0.0.1"
_COUNT = struct.Struct("<q")
_MOST_AT_ONCE = 1000
_LINGER_MS = 2000


class Settings(SpecModel):
    high_water_mark: int = Field(default=100_000, ge=1)
    """Messages that each side holds before `send` refuses more."""
    ports: tuple[int, ...] = ()
    """One per partition, topic by topic; by default free ones."""


class ZeroMq(FleetingDriver):
    name = "zeromq"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(endpoints)
        self._settings = Settings.model_validate(target.settings)
        self._ports = [int(port) for port in endpoints.get("ports", "").split(",") if port]
        self._context = zmq.Context()

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        """There is nobody to reach: producer and consumer meet each other."""
        return {"pyzmq": zmq.__version__, "libzmq": zmq.zmq_version()}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        needed = len(names) * topics.partitions
        if self._settings.ports and len(self._settings.ports) < needed:
            raise BadInput(f"target: settings.ports: {needed} partitions need as many ports")
        self._ports = list(self._settings.ports[:needed]) or _free_ports(needed)
        self._partitions = topics.partitions
        return list(names)

    def endpoints(self) -> dict[str, str]:
        return {"ports": ",".join(map(str, self._ports)), **super().endpoints()}

    def producer(self, options: ProducerOptions) -> Producer:
        return _Producer(self, options, self._ends)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return _Consumer(self, options)

    def open(self, kind: int, place: tuple[int, int]) -> Any:
        """A socket for a (topic, partition)."""
        opened = self._context.socket(kind)
        opened.setsockopt(zmq.LINGER, _LINGER_MS)
        opened.setsockopt(zmq.SNDHWM, self._settings.high_water_mark)
        opened.setsockopt(zmq.RCVHWM, self._settings.high_water_mark)
        # Only to those who are there: else messages would wait for a consumer that never comes.
        opened.setsockopt(zmq.IMMEDIATE, 1)
        port = self._ports[place[0] * self._partitions + place[1]]
        address = f"tcp://{_HOST}:{port}"
        if kind == zmq.PUSH:
            opened.connect(address)
            return opened
        try:
            opened.bind(address)
        except zmq.ZMQError as error:
            opened.close(0)
            why = "the port is in use" if error.errno == zmq.EADDRINUSE else str(error)
            raise BadInput(f"{address}: cannot be listened on: {why}; set settings.ports") from None
        return opened

    @property
    def partitions(self) -> int:
        return self._partitions

    def facts(self) -> dict[str, Any]:
        return self._settings.model_dump(mode="json")

    def close(self) -> None:
        self._context.destroy(0)


class _Producer(InstantProducer):
    def __init__(self, driver: ZeroMq, options: ProducerOptions, ends: dict[tuple[str, int], int]) -> None:
        super().__init__()
        self._driver, self._options, self._ends = driver, options, ends
        self._sockets = {
            (topic, partition): driver.open(zmq.PUSH, (topic, partition))
            for topic in range(len(options.topics))
            for partition in range(driver.partitions)
        }
        self._counts = dict.fromkeys(self._sockets, 0)
        self._turn = 0

    def send(self, batch: Outgoing, topic: int) -> int:
        partition = self._turn % self._driver.partitions
        place = (topic, partition)
        push, count = self._sockets[place].send, self._counts[place]
        taken = 0
        try:
            for value in batch.values:
                push(_COUNT.pack(count + taken) + value, zmq.DONTWAIT)
                taken += 1
        except zmq.Again:
            pass
        except zmq.ZMQError as error:
            raise CaseFailed(f"producer {self._options.number}: ZeroMQ: {error}") from None
        if taken:
            self._counts[place] = count + taken
            self._ends[self._options.topics[topic], partition] = count + taken
            self._acks.add(batch.first_sequence, partition, np.arange(count, count + taken))
            self._turn += taken == len(batch)
        return taken

    def settings_in_force(self) -> dict[str, Any]:
        return self._driver.facts()

    def close(self) -> None:
        for opened in self._sockets.values():
            opened.close()


class _Consumer(FleetingConsumer):
    def __init__(self, driver: ZeroMq, options: ConsumerOptions) -> None:
        self._driver = driver
        self._sockets = {place: driver.open(zmq.PULL, place) for place in options.partitions}
        self._positions = dict.fromkeys(self._sockets, 0)
        self._poller = zmq.Poller()
        for opened in self._sockets.values():
            self._poller.register(opened, zmq.POLLIN)
        self._places = {opened: place for place, opened in self._sockets.items()}

    def wait_ready(self, deadline_s: float) -> None:
        """It listens; producers that come now find it."""

    def poll(self, timeout_s: float) -> Received | None:
        found = self._poller.poll(math.ceil(timeout_s * 1000))
        if not found:
            return None
        opened = found[0][0]
        place, messages = self._places[opened], [opened.recv()]
        try:
            while len(messages) < _MOST_AT_ONCE:
                messages.append(opened.recv(zmq.DONTWAIT))
        except zmq.Again:
            pass
        offsets = np.array([_COUNT.unpack_from(message)[0] for message in messages], np.int64)
        self._positions[place] = int(offsets[-1]) + 1
        return Received(
            values=[message[_COUNT.size :] for message in messages],
            carried=None,
            topics=place[0],
            partitions=place[1],
            offsets=offsets,
            timestamps_ms=np.zeros(len(messages), np.int64),
            timestamp_kind=BROKER_TIME_NONE,
        )

    def settings_in_force(self) -> dict[str, Any]:
        return self._driver.facts()

    def close(self) -> None:
        for opened in self._sockets.values():
            opened.close(0)


def _free_ports(count: int) -> list[int]:
    """All held at once, so that no two are the same."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((_HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
