"""RabbitMQ streams through rstream's client, in an event loop of its own.

A partition is a stream, whose offsets count from 0. A confirmation names a message, but not its offset.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any, TypeVar

from rstream import exceptions

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Producer, ProducerOptions
from streamgauge.drivers.event_loop import ADMIN_S, AdminLoop, BlockingConsumer, BlockingProducer
from streamgauge.drivers.rabbitmq.clients import RabbitMqConsumer, RabbitMqProducer
from streamgauge.drivers.rabbitmq.connection import FAILURES, Connection, stream_name
from streamgauge.drivers.server_address import parse_address
from streamgauge.drivers.server_driver import ServerDriver
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_Answer = TypeVar("_Answer")

_PORT = 5552
_MOST_STREAMS = 255
"""Publishers and subscriptions of a connection are numbered with one byte."""


class Settings(SpecModel):
    url: str | None = None
    """Address of a RabbitMQ stream listener, rabbitmq-stream://host:port; by default that of the system."""


class RabbitMqStreams(ServerDriver):
    name = "rabbitmq_streams"
    server = "RabbitMQ"
    capabilities = replace(ServerDriver.capabilities, acks_name_offsets=False)
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        super().__init__(target, endpoints)
        url, scheme = self._given_address, "rabbitmq-stream"
        self._address = parse_address(url, scheme, _PORT, self._where, target.client)
        self._loop = AdminLoop(f"RabbitMQ at {self._address}", FAILURES)
        self._connection: Connection | None = None

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        async def ask(connection: Connection) -> dict[str, Any]:
            about = connection.client.server_properties or {}
            return {"rabbitmq-server": about.get("version", "not told"), "rstream": version("rstream")}

        return self._asked(ask, deadline_s)

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        if topics.replicas > 1:
            raise BadInput(
                f"load.topics.replicas: {topics.replicas}: RabbitMQ itself decides how many copies a stream "
                "has; allowed: 1"
            )
        if len(names) * topics.partitions > _MOST_STREAMS:
            raise BadInput(
                f"load.topics: {len(names)} topics of {topics.partitions} partitions are more streams than "
                f"a client of RabbitMQ can write to; allowed: {_MOST_STREAMS}"
            )
        self._partitions = topics.partitions

        async def make(connection: Connection) -> list[str]:
            return [name for name in names if await self._make(connection, name)]

        return self._asked(make)

    async def _make(self, connection: Connection, name: str) -> bool:
        made = False
        for partition in range(self._partitions):
            try:
                await connection.client.create_stream(stream_name(name, partition))
                made = True
            except exceptions.StreamAlreadyExists:
                continue
        return made

    def remove_topics(self, names: list[str]) -> None:
        async def remove(connection: Connection) -> None:
            for name in names:
                for partition in range(self._partitions):
                    await connection.client.delete_stream(stream_name(name, partition))

        self._asked(remove)

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        async def ask(connection: Connection) -> dict[tuple[int, int], int]:
            return {
                (number, partition): await connection.end_of(stream_name(name, partition))
                for number, name in enumerate(topics)
                for partition in range(partitions)
            }

        return self._asked(ask)

    def producer(self, options: ProducerOptions) -> Producer:
        return BlockingProducer(RabbitMqProducer(self._address, options, self._partitions))

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return BlockingConsumer(RabbitMqConsumer(self._address, options))

    def close(self) -> None:
        self._loop.close(self._connection)
        self._connection = None

    def _asked(
        self,
        ask: Callable[[Connection], Coroutine[Any, Any, _Answer]],
        deadline_s: float = ADMIN_S,
    ) -> _Answer:
        return self._loop.run(self._ask(ask), deadline_s)

    async def _ask(self, ask: Callable[[Connection], Coroutine[Any, Any, _Answer]]) -> _Answer:
        if self._connection is None or not self._connection.is_open:
            self._connection = await Connection.opened(self._address, "streamgauge")
        return await ask(self._connection)
