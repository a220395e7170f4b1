"""NATS JetStream through nats-py, in an event loop of its own.

A partition is a stream with one subject. The stream counts from 1, so that a message's offset is its
sequence there less one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import nats
import nats.errors
import numpy as np
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StorageType, StreamConfig

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.async_contract import AsyncClient, AsyncConsumer, AsyncProducer
from streamgauge.drivers.contract import (
    Consumer,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
    all_read,
)
from streamgauge.drivers.event_loop import ADMIN_S, AdminLoop, BlockingConsumer, BlockingProducer
from streamgauge.drivers.fates import Fates
from streamgauge.drivers.server_driver import ServerDriver
from streamgauge.payload.making import Outgoing
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND

_CONNECT_S = 10
_MOST_AT_ONCE = 1000
_MOST_PENDING = 4000
"""Unacknowledged messages; nats-py makes its callers wait beyond that."""


class Settings(SpecModel):
    servers: str | None = None
    """Address of a NATS server with JetStream; by default that of the system."""


class NatsJetStream(ServerDriver):
    name = "nats_jetstream"
    server, address_setting = "NATS", "servers"
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(target, endpoints)
        self._servers = self._given_address
        self._loop = AdminLoop(f"NATS at {self._servers}", (nats.errors.Error, OSError, TimeoutError))
        self._connection: Any = None

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        async def ask() -> dict[str, Any]:
            await (await self._admin()).account_info()
            server = str(self._connection.connected_server_version)
            return {"nats-server": server, "nats-py": version("nats-py")}

        return self._loop.run(ask(), deadline_s)

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        self._partitions = topics.partitions

        async def make() -> None:
            stream = await self._admin()
            for name in names:
                for partition in range(topics.partitions):
                    own = _stream(name, partition)
                    await stream.add_stream(
                        StreamConfig(
                            name=own,
                            subjects=[own],
                            storage=StorageType.FILE,
                            num_replicas=topics.replicas,
                            duplicate_window=0,
                        )
                    )

        self._loop.run(make())
        return list(names)

    def remove_topics(self, names: list[str]) -> None:
        async def remove() -> None:
            stream = await self._admin()
            for name in names:
                for partition in range(self._partitions):
                    await stream.delete_stream(_stream(name, partition))

        self._loop.run(remove())

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        async def ask() -> dict[tuple[int, int], int]:
            stream, found = await self._admin(), {}
            for number, name in enumerate(topics):
                for partition in range(partitions):
                    about = await stream.stream_info(_stream(name, partition))
                    found[number, partition] = int(about.state.last_seq)
            return found

        return self._loop.run(ask())

    def producer(self, options: ProducerOptions) -> Producer:
        return BlockingProducer(NatsProducer(self._servers, options, self._partitions))

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return BlockingConsumer(NatsConsumer(self._servers, options))

    def close(self) -> None:
        self._loop.close(self._connection)
        self._connection = None

    async def _admin(self) -> Any:
        if self._connection is None:
            self._connection = await _connected(self._servers)
        return self._connection.jetstream(timeout=ADMIN_S)


class _Connected(AsyncClient):
    """Closed with its connection, if it ever had one."""

    _connection: Any = None

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class NatsProducer(_Connected, AsyncProducer):
    def __init__(self, servers: str, options: ProducerOptions, partitions: int) -> None:
        self._servers, self._options, self._partitions = servers, options, partitions
        self._turn = 0
        self._stream: Any = None

    async def start(self) -> None:
        self._connection = await _connected(self._servers)
        self._stream = self._connection.jetstream(publish_async_max_pending=_MOST_PENDING)

    async def send(self, batch: Outgoing, topic: int, fates: Fates) -> None:
        partition = self._turn % self._partitions
        self._turn += 1
        subject = _stream(self._options.topics[topic], partition)
        for row, value in enumerate(batch.values):
            sequence = batch.first_sequence + row
            try:
                future = await self._stream.publish_async(subject, value)
            except nats.errors.Error as error:
                fates.failed(sequence, str(error) or type(error).__name__)
            else:
                future.add_done_callback(partial(_tell, fates, sequence, partition))

    def settings_in_force(self) -> dict[str, Any]:
        return {"servers": self._servers, "publish_async_max_pending": _MOST_PENDING}


class NatsConsumer(_Connected, AsyncConsumer):
    def __init__(self, servers: str, options: ConsumerOptions) -> None:
        self._servers, self._options = servers, options
        self._subscriptions: list[Any] = []
        self._positions: dict[tuple[int, int], int] = {}
        self._waiting: list[tuple[tuple[int, int], Any]] = []
        self._came = asyncio.Event()

    async def start(self) -> None:
        self._connection = await _connected(self._servers)
        if self._options.partitions:
            await self.assign(self._options.starts())

    async def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        for subscription in self._subscriptions:
            await subscription.unsubscribe()
        self._subscriptions, self._waiting, self._positions = [], [], dict(start)
        stream = self._connection.jetstream()
        for (topic, partition), offset in start.items():
            own = _stream(self._options.topics[topic], partition)
            config = ConsumerConfig(
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=offset + 1,
                ack_policy=AckPolicy.NONE,
            )
            self._subscriptions.append(
                await stream.subscribe(
                    own,
                    stream=own,
                    config=config,
                    ordered_consumer=True,
                    cb=partial(self._take, (topic, partition)),
                    pending_msgs_limit=-1,
                    pending_bytes_limit=-1,
                )
            )

    async def _take(self, place: tuple[int, int], message: Any) -> None:
        self._waiting.append((place, message))
        self._came.set()

    async def wait_ready(self, deadline_s: float) -> None:
        """Subscribed: the server has answered."""

    async def poll(self, timeout_s: float) -> Received | None:
        if not self._waiting:
            self._came.clear()
            try:
                await asyncio.wait_for(self._came.wait(), timeout_s)
            except TimeoutError:
                return None
        found, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
        about = [message.metadata for _, message in found]
        offsets = np.array([one.sequence.stream - 1 for one in about], np.int64)
        for (place, _), offset in zip(found, offsets.tolist(), strict=True):
            self._positions[place] = offset + 1
        return Received(
            values=[message.data for _, message in found],
            carried=None,
            topics=np.array([topic for (topic, _), _ in found], np.int32),
            partitions=np.array([partition for (_, partition), _ in found], np.int32),
            offsets=offsets,
            timestamps_ms=np.array([int(one.timestamp.timestamp() * 1000) for one in about], np.int64),
            timestamp_kind=BROKER_TIME_APPEND,
        )

    async def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._waiting:
            return False
        return all_read(self._positions, ends)

    def settings_in_force(self) -> dict[str, Any]:
        return {"servers": self._servers, "ordered_consumer": True}


def _stream(topic: str, partition: int) -> str:
    """Of a stream and its subject; neither may have dots in the middle of a name."""
    return f"{topic.replace('.', '_')}-{partition}"


async def _connected(servers: str) -> Any:
    async def quiet(error: Exception) -> None:
        """What goes wrong is raised where it is noticed."""

    try:
        return await nats.connect(
            servers.split(","), connect_timeout=_CONNECT_S, max_reconnect_attempts=2, error_cb=quiet
        )
    except (nats.errors.Error, OSError) as error:
        raise Unreachable(f"NATS at {servers}: {str(error) or type(error).__name__}") from None


def _tell(fates: Fates, sequence: int, partition: int, future: asyncio.Future[Any]) -> None:
    if future.cancelled():
        fates.failed(sequence, "the client was closed")
    elif (error := future.exception()) is not None:
        fates.failed(sequence, str(error) or type(error).__name__)
    else:
        fates.delivered((sequence, partition, future.result().seq - 1))
