"""Producer and consumer of RabbitMQ streams: a batch is a frame, a chunk is a batch."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rstream import OffsetType, schema

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.async_contract import AsyncConsumer, AsyncProducer
from streamgauge.drivers.contract import UNKNOWN, ConsumerOptions, ProducerOptions, Received, all_read
from streamgauge.drivers.fates import Fates
from streamgauge.drivers.rabbitmq.connection import Connection, stream_name
from streamgauge.drivers.server_address import ServerAddress
from streamgauge.payload.making import Outgoing
from streamgauge.tables.events import BROKER_TIME_APPEND

_PUBLISH_BYTES, _MESSAGE_BYTES = 13, 12
"""What a frame, and each message in it, takes beside the values."""
_CREDIT = 64
"""Chunks that the server sends before they are asked for."""
_MOST_AT_ONCE = 1000


class RabbitMqProducer(AsyncProducer):
    """A publisher for each stream; publishing ids count all that was sent, whatever the stream."""

    def __init__(self, address: ServerAddress, options: ProducerOptions, partitions: int) -> None:
        self._address, self._options, self._partitions = address, options, partitions
        self._turn = self._last_id = 0
        self._sent: dict[int, tuple[int, int]] = {}
        """Sequence and partition by publishing id, of what is not confirmed yet."""
        self._fates: Fates | None = None
        self._connection: Connection | None = None

    async def start(self) -> None:
        self._connection = await Connection.opened(self._address, f"producer {self._options.number}")
        self._connection.when_lost = self._lost
        client = self._connection.client
        client.add_handler(schema.PublishConfirm, self._confirmed, name="confirmed")
        client.add_handler(schema.PublishError, self._refused, name="refused")
        for topic, name in enumerate(self._options.topics):
            for partition in range(self._partitions):
                await client.declare_publisher(
                    stream_name(name, partition), None, self._publisher(topic, partition)
                )

    def _publisher(self, topic: int, partition: int) -> int:
        return topic * self._partitions + partition

    async def send(self, batch: Outgoing, topic: int, fates: Fates) -> None:
        assert self._connection is not None
        self._connection.check()
        self._fates = fates
        partition = self._turn % self._partitions
        self._turn += 1
        client, publisher = self._connection.client, self._publisher(topic, partition)
        for first, values in _frames(batch.values, int(client.frame_max)):
            sequence = batch.first_sequence + first
            if len(values[0]) + _PUBLISH_BYTES + _MESSAGE_BYTES > client.frame_max:
                fates.failed(sequence, f"larger than a frame of RabbitMQ's streams: {client.frame_max} bytes")
                continue
            first_id = self._last_id + 1
            self._last_id += len(values)
            messages = [schema.Message(first_id + row, None, value) for row, value in enumerate(values)]
            self._sent.update((first_id + row, (sequence + row, partition)) for row in range(len(values)))
            await client.send_publish_frame(schema.Publish(publisher, messages))

    def _confirmed(self, frame: Any) -> None:
        assert self._fates is not None
        delivered, forget = self._fates.delivered, self._sent.pop
        for publishing_id in frame.publishing_ids:
            sequence, partition = forget(publishing_id)
            delivered((sequence, partition, UNKNOWN))

    def _refused(self, frame: Any) -> None:
        assert self._fates is not None
        for error in frame.errors:
            sequence, _ = self._sent.pop(error.publishing_id)
            self._fates.failed(sequence, f"RabbitMQ refused it, with code {error.response_code}")

    def _lost(self, why: str) -> None:
        """Nobody will tell any more what became of these."""
        for sequence, _ in self._sent.values():
            assert self._fates is not None
            self._fates.failed(sequence, why)
        self._sent.clear()

    def settings_in_force(self) -> dict[str, Any]:
        return {"url": str(self._address), "messages": "raw bytes, one frame a batch, no sub-entries"}

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class RabbitMqConsumer(AsyncConsumer):
    def __init__(self, address: ServerAddress, options: ConsumerOptions) -> None:
        self._address, self._options = address, options
        self._connection: Connection | None = None
        self._places: list[tuple[int, int]] = []
        """By subscription."""
        self._positions: dict[tuple[int, int], int] = {}
        self._chunks: deque[Any] = deque()
        self._came = asyncio.Event()

    async def start(self) -> None:
        if self._options.partitions:
            await self.assign(self._options.starts())

    async def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        if self._connection is not None:
            await self._connection.close()
        self._places, self._positions = list(start), dict(start)
        self._chunks.clear()
        self._connection = await Connection.opened(self._address, f"consumer {self._options.number}")
        await self._connection.take_chunks(self._take)
        for subscription, place in enumerate(self._places):
            await self._connection.client.subscribe(
                stream_name(self._options.topics[place[0]], place[1]),
                subscription,
                schema.OffsetSpec.from_params(OffsetType.OFFSET, start[place]),
                initial_credit=_CREDIT,
            )

    def _take(self, chunk: Any) -> None:
        self._chunks.append(chunk)
        self._came.set()

    async def wait_ready(self, deadline_s: float) -> None:
        """Subscribed: the server has answered."""

    async def poll(self, timeout_s: float) -> Received | None:
        assert self._connection is not None, "nothing was assigned"
        if not self._chunks:
            self._connection.check()
            self._came.clear()
            try:
                await asyncio.wait_for(self._came.wait(), timeout_s)
            except TimeoutError:
                return None
        runs: list[_Run] = []
        used: Counter[int] = Counter()
        count = 0
        while self._chunks and count < _MOST_AT_ONCE:
            chunk = self._chunks.popleft()
            used[chunk.subscription_id] += 1
            runs.append(self._run_of(chunk))
            count += len(runs[-1].values)
        for subscription, chunks in used.items():
            await self._connection.client.credit(subscription, chunks)
        return _received(runs) if count else None

    def _run_of(self, chunk: Any) -> _Run:
        """A chunk comes whole, also when it was to be read from its middle."""
        place = self._places[chunk.subscription_id]
        values, first = chunk.get_messages(), chunk.chunk_first_offset
        if len(values) != chunk.num_records:
            raise CaseFailed(f"consumer {self._options.number}: RabbitMQ: a chunk does not hold what it says")
        before = max(0, self._positions[place] - first)
        values = values[before:]
        self._positions[place] = max(self._positions[place], first + before + len(values))
        return _Run(place, first + before, chunk.timestamp, values)

    async def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._chunks:
            return False
        return all_read(self._positions, ends)

    def settings_in_force(self) -> dict[str, Any]:
        return {"url": str(self._address), "credit": _CREDIT}

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


@dataclass(frozen=True, slots=True)
class _Run:
    """Messages of one stream, one after the other."""

    place: tuple[int, int]
    first_offset: int
    timestamp_ms: int
    values: list[bytes]


def _received(runs: list[_Run]) -> Received:
    counts = [len(run.values) for run in runs]

    def each(figures: list[int], kind: type[np.integer[Any]]) -> Any:
        return np.repeat(np.array(figures, kind), counts)

    return Received(
        values=[value for run in runs for value in run.values],
        carried=None,
        topics=each([run.place[0] for run in runs], np.int32),
        partitions=each([run.place[1] for run in runs], np.int32),
        offsets=np.concatenate([np.arange(len(run.values)) + run.first_offset for run in runs]),
        timestamps_ms=each([run.timestamp_ms for run in runs], np.int64),
        timestamp_kind=BROKER_TIME_APPEND,
    )


def _frames(values: list[bytes], most_bytes: int) -> Iterator[tuple[int, list[bytes]]]:
    """Values that fit into one frame each time, and the number of the first of them."""
    first, size = 0, _PUBLISH_BYTES
    for row, value in enumerate(values):
        needed = len(value) + _MESSAGE_BYTES
        if row > first and size + needed > most_bytes:
            yield first, values[first:row]
            first, size = row, _PUBLISH_BYTES
        size += needed
    yield first, values[first:]
