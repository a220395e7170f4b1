"""Kafka through aiokafka, in an event loop of its own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import aiokafka
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaError
from aiokafka.helpers import create_ssl_context

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.async_contract import AsyncClient, AsyncConsumer, AsyncProducer
from streamgauge.drivers.contract import (
    UNKNOWN,
    Consumer,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
    SharedSetting,
)
from streamgauge.drivers.event_loop import BlockingConsumer, BlockingProducer
from streamgauge.drivers.fates import Fates
from streamgauge.drivers.kafka.consumer import SeeksStart, unreadable
from streamgauge.drivers.kafka.driver import ClientSettings, KafkaDriver
from streamgauge.drivers.kafka.records import received
from streamgauge.drivers.kafka.tokens import Tokens, handed_over
from streamgauge.payload.making import Outgoing

_CONNECT_S = 15.0
_POLL_S = 0.02
_TLS_FILES = ("cafile", "certfile", "keyfile", "password")


class KafkaAio(KafkaDriver):
    name = "kafka_aio"
    library = "aiokafka"
    bootstrap_name = "bootstrap_servers"

    def library_version(self) -> dict[str, Any]:
        return {"aiokafka": aiokafka.__version__}

    def producer(self, options: ProducerOptions) -> Producer:
        return BlockingProducer(
            AioProducer(
                self.producer_settings(options, handed_over(self.security.tokens, _TokenProvider)), options
            )
        )

    def consumer(self, options: ConsumerOptions) -> Consumer:
        own = {
            "enable_auto_commit": False,
            "group_id": options.group,
            **handed_over(self.security.tokens, _TokenProvider),
        }
        return BlockingConsumer(AioConsumer(self.consumer_settings(options, own), options))


class _TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def token(self) -> str:
        return await asyncio.to_thread(self._tokens.get)


class _AioClient(AsyncClient):
    kind: ClassVar[Any]
    """The library's class."""
    _settings: ClientSettings

    def settings_in_force(self) -> dict[str, Any]:
        return _in_force(self.kind, self._settings)

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared(self.settings_in_force())


class AioProducer(_AioClient, AsyncProducer):
    kind = aiokafka.AIOKafkaProducer

    def __init__(self, settings: ClientSettings, options: ProducerOptions) -> None:
        self._settings, self._options = settings, options
        self._producer: Any = None

    async def start(self) -> None:
        self._producer = _made(self.kind, self._settings)
        await _started(self._producer, self._settings, f"producer {self._options.number}")
        for name in self._options.topics:
            await self._producer.partitions_for(name)

    async def send(self, batch: Outgoing, topic: int, fates: Fates) -> None:
        name, first = self._options.topics[topic], batch.first_sequence
        for row, value in enumerate(batch.values):
            try:
                future = await self._producer.send(
                    name,
                    value=value,
                    key=None if batch.keys is None else batch.keys[row],
                    headers=None if batch.headers is None else batch.headers[row],
                )
            except KafkaError as error:
                # Too large, or no room in time: the fate of this message, not of those behind it.
                fates.failed(first + row, str(error) or type(error).__name__)
            else:
                future.add_done_callback(partial(_tell, fates, first + row))

    async def close(self) -> None:
        if self._producer is not None:
            await self._producer.stop()


class AioConsumer(_AioClient, SeeksStart, AsyncConsumer):
    kind = aiokafka.AIOKafkaConsumer

    def __init__(self, settings: ClientSettings, options: ConsumerOptions) -> None:
        self._settings, self._options = settings, options
        self._topic_numbers = {name: number for number, name in enumerate(options.topics)}
        self._start = dict(options.start)
        self._early: list[Received] = []
        self._dealt_count = 0
        self._consumer: Any = None

    async def start(self) -> None:
        options = self._options
        self._consumer = _made(self.kind, self._settings)
        await _started(self._consumer, self._settings, f"consumer {options.number}")
        if options.group is not None:
            self._consumer.subscribe(list(options.topics), listener=_SeekStart(self._seek_dealt))
        elif options.partitions:
            await self.assign(options.starts())

    async def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._start, self._early = dict(start), []
        places = [aiokafka.TopicPartition(self._options.topics[t], p) for t, p in start]
        self._consumer.assign(places)
        self._seek_start(places)

    async def wait_ready(self, deadline_s: float) -> None:
        """Ready when a fetch of every partition has been answered: then its end is known."""
        deadline = asyncio.get_running_loop().time() + deadline_s
        while asyncio.get_running_loop().time() < deadline:
            if (early := await self._fetch(_POLL_S)) is not None:
                self._early.append(early)
            if self._all_answered():
                return
        raise unreadable(self._options, deadline_s)

    async def poll(self, timeout_s: float) -> Received | None:
        return self._early.pop(0) if self._early else await self._fetch(timeout_s)

    async def _fetch(self, timeout_s: float) -> Received | None:
        try:
            batches = await self._consumer.getmany(timeout_ms=timeout_s * 1000)
        except KafkaError as error:
            raise CaseFailed(f"the consumer cannot go on: {error}") from None
        return received(batches.values(), self._options.carrier, self._topic_numbers)

    def dealt_count(self) -> int | None:
        return self._dealt_count if self._options.group is not None else None

    async def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._early:
            return False
        for place in self._consumer.assignment():
            if await self._consumer.position(place) < ends.get(self._number(place), 0):
                return False
        return True

    async def close(self) -> None:
        if self._consumer is not None:
            await self._consumer.stop()


class _SeekStart(aiokafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """What a group deals out is read from where the case begins."""

    def __init__(self, seek: Any) -> None:
        self._seek = seek

    async def on_partitions_revoked(self, revoked: Any) -> None:
        pass

    async def on_partitions_assigned(self, assigned: Any) -> None:
        self._seek(assigned)


def _tell(fates: Fates, sequence: int, future: asyncio.Future[Any]) -> None:
    if future.cancelled():
        fates.failed(sequence, "given up")
    elif (error := future.exception()) is not None:
        fates.failed(sequence, str(error) or type(error).__name__)
    else:
        metadata = future.result()
        # Without acks from a broker nobody knows where it went.
        place = (UNKNOWN, UNKNOWN) if metadata is None else (metadata.partition, metadata.offset)
        fates.delivered((sequence, *place))


def _made(kind: Any, settings: ClientSettings) -> Any:
    client = dict(settings.native)
    # A context is an object, which no file can hold: it is made of the files that it needs.
    files = {name: client.pop(f"ssl_{name}") for name in _TLS_FILES if f"ssl_{name}" in client}
    checks_host = client.pop("ssl_check_hostname", True)
    try:
        if files or "SSL" in str(client.get("security_protocol")):
            client["ssl_context"] = create_ssl_context(**files)
            client["ssl_context"].check_hostname = checks_host
        return kind(**client)
    except (TypeError, ValueError, RuntimeError, OSError) as error:
        raise BadInput(f"target: client: aiokafka: {error}") from None


async def _started(client: Any, settings: ClientSettings, who: str) -> None:
    try:
        await asyncio.wait_for(client.start(), _CONNECT_S)
    except (KafkaError, TimeoutError) as error:
        # Stopped here, since nobody else will: a client that never started complains when it is forgotten.
        await client.stop()
        why = str(error) or f"no answer within {_CONNECT_S:g} s"
        raise Unreachable(f"{who}: {settings.native['bootstrap_servers']}: {why}") from None


def _in_force(kind: Any, settings: ClientSettings) -> dict[str, Any]:
    """The library does not tell; it does nothing else with what it is given but use it."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    told = {**defaults, **settings.native}
    return {n: v for n, v in told.items() if v is None or isinstance(v, (str, int, float, bool))}
