"""Few crossings: whole batches to and from Java, in memory that both sides see."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import jpype
import jpype.nio
import numpy as np
from numpy.typing import NDArray

from streamgauge.drivers.contract import Acks, ConsumerOptions, Producer, ProducerOptions, Received
from streamgauge.drivers.kafka.consumer import KafkaConsumer
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.java.client import JavaClient, made, mapped, triples
from streamgauge.payload.header import RECORD_HEADER
from streamgauge.payload.making import Outgoing, RecordHeaders

_ACKS_AT_ONCE = 16_384
_FIRST_BUFFER_BYTES = 1 << 20
_NONE = -1


class BatchProducer(JavaClient, Producer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions, *, count_calls: bool) -> None:
        super().__init__(settings, "producer", count_calls=count_calls)
        self._who = f"producer {options.number}"
        bridge = jpype.JClass("streamgauge.kafka.BatchProducer")
        self._bridge = made(lambda: bridge(self.config, list(options.topics)), self._who, settings)
        self.opened(self._bridge.close)
        try:
            made(self._bridge.connect, self._who, settings)
        except BaseException:
            self.close()
            raise
        # Half of the buffer in values: batches have bytes of their own, and `send` must not wait for room.
        self._most_bytes = int(self._in_force["buffer.memory"]) // 2
        self._largest = 1
        self._taken = self._told = 0
        self._input = self._shared(_FIRST_BUFFER_BYTES, self._bridge.setInput)
        output = self._shared(20 * _ACKS_AT_ONCE, self._bridge.setOutput)
        longs, ints = output[: 16 * _ACKS_AT_ONCE].view(np.int64), output[16 * _ACKS_AT_ONCE :].view(np.int32)
        self._sequences, self._offsets, self._partitions = longs[:_ACKS_AT_ONCE], longs[_ACKS_AT_ONCE:], ints
        self.begin_counts()

    def _shared(self, size: int, tell: Any) -> NDArray[np.uint8]:
        """Memory of ours that Java sees too."""
        memory = np.zeros(size, np.uint8)
        tell(jpype.nio.convertToDirectBuffer(memory))
        self.crossings += 2
        return memory

    def send(self, batch: Outgoing, topic: int) -> int:
        self._largest = max(self._largest, len(batch.values[0]))
        room = max(1, self._most_bytes // self._largest) - (self._taken - self._told)
        if room <= 0:
            return 0
        if len(batch) > room:
            batch = batch.head(room)
        value_bytes, key_bytes = self._pack(batch)
        self._taken += len(batch)
        self._bridge.send(topic, batch.first_sequence, len(batch), value_bytes, key_bytes)
        self.crossings += 1
        return len(batch)

    def _pack(self, batch: Outgoing) -> tuple[int, int]:
        """Into the shared memory, as the Java class describes it."""
        count = len(batch)
        blocks = None if batch.headers is None else [_header_block(headers) for headers in batch.headers]
        parts = [b"".join(column) if column else b"" for column in (batch.values, batch.keys, blocks)]
        needed = 12 * count + sum(map(len, parts))
        if needed > len(self._input):
            self._input = self._shared(2 * needed, self._bridge.setInput)
        lengths = self._input[: 12 * count].view(np.int32).reshape(3, count)
        for row, column in enumerate((batch.values, batch.keys, blocks)):
            lengths[row] = _NONE if column is None else np.fromiter(map(len, column), np.int32, count)
        at = 12 * count
        for part in parts:
            self._input[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        return len(parts[0]), len(parts[1])

    def poll(self, timeout_s: float) -> Acks | None:
        taken = int(self._bridge.takeAcks(int(timeout_s * 1e9)))
        self.crossings_besides += 1
        if taken == 0:
            return None
        errors = {} if taken > 0 else self._errors()
        taken = abs(taken)
        self._told += taken
        return Acks(
            self._sequences[:taken].copy(),
            self._partitions[:taken].copy(),
            self._offsets[:taken].copy(),
            errors,
        )

    def _errors(self) -> dict[int, str]:
        told = [str(line).partition(" ") for line in self._bridge.errors()]
        self.crossings_besides += 1 + len(told)
        return {int(sequence): why for sequence, _, why in told}

    def outstanding(self) -> int:
        return self._taken - self._told

    def flush_soon(self) -> None:
        self._bridge.flushSoon()
        self.crossings += 1


class BatchConsumer(JavaClient, KafkaConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions, *, count_calls: bool) -> None:
        JavaClient.__init__(self, settings, "consumer", count_calls=count_calls)
        KafkaConsumer.__init__(self, options)
        self._who = f"consumer {options.number}"
        self._one_topic = len(options.topics) == 1
        self._carries = options.carrier != "value"
        keys = options.carrier in ("key", "ordinal")
        header = RECORD_HEADER if options.carrier == "headers" else None
        bridge = jpype.JClass("streamgauge.kafka.BatchConsumer")
        arguments = (self.config, list(options.topics), keys, header)
        self._bridge = made(lambda: bridge(*arguments), self._who, settings)
        self.opened(self._bridge.close)
        self._output = self._shared(_FIRST_BUFFER_BYTES)
        self.begin_counts()
        self.begin()

    def _shared(self, size: int) -> NDArray[np.uint8]:
        """Memory of ours that Java sees too."""
        memory = np.zeros(size, np.uint8)
        self._bridge.setOutput(jpype.nio.convertToDirectBuffer(memory))
        self.crossings += 2
        return memory

    def _subscribe(self) -> None:
        self._bridge.subscribe(triples(self._start))
        self.crossings += 2

    def _assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._bridge.assign(triples(start))
        self.crossings += 2

    def _ends_known(self) -> bool:
        self.crossings += 1
        return bool(self._bridge.endsKnown())

    def dealt_count(self) -> int | None:
        if self._options.group is None:
            return None
        self.crossings += 1
        return int(self._bridge.dealtCount())

    def _positions(self) -> Iterable[tuple[tuple[int, int], int]]:
        positions = np.array(self._bridge.positions()[:]).reshape(-1, 3).tolist()
        self.crossings += 2
        return [((topic, partition), position) for topic, partition, position in positions]

    def _fetch(self, timeout_s: float) -> Received | None:
        try:
            count = int(self._bridge.poll(round(timeout_s * 1000)))
            self.crossings += 1
            if count < 0:
                self._output = self._shared(2 * -count)
                count = int(self._bridge.poll(0))
                self.crossings += 1
        except jpype.JException as error:
            raise mapped(error, self._who, self._settings) from None
        return self._unpacked(count) if count else None

    def _unpacked(self, count: int) -> Received:
        """Out of the shared memory, as the Java class describes it."""
        longs = self._output[: 16 * count].view(np.int64).reshape(2, count).copy()
        ints = self._output[16 * count : 36 * count].view(np.int32).reshape(5, count).copy()
        lengths, carried_lengths, topics, partitions, kinds = ints
        data = self._output[36 * count :]
        values, at = _split(data, lengths)
        return Received(
            values=values,
            carried=_carried(data[at:], carried_lengths) if self._carries else None,
            topics=0 if self._one_topic else topics,
            partitions=partitions,
            offsets=longs[0],
            timestamps_ms=longs[1],
            # Kafka's: -1 none, 0 create time, 1 append time.
            timestamp_kind=(kinds + 1).astype(np.int8),
        )


def _header_block(headers: RecordHeaders) -> bytes:
    block = [struct.pack("=i", len(headers))]
    for name, value in headers:
        encoded = name.encode()
        block.append(struct.pack("=ii", len(encoded), len(value)) + encoded + value)
    return b"".join(block)


def _split(data: NDArray[np.uint8], lengths: NDArray[np.int32]) -> tuple[list[bytes], int]:
    """Values of these lengths, one behind the other, and where they end."""
    size, total = int(lengths[0]), int(lengths.sum(dtype=np.int64))
    if size > 0 and bool((lengths == size).all()):
        values: list[bytes] = data[:total].view(f"V{size}").tolist()
        return values, total
    joined, ends = data[:total].tobytes(), np.cumsum(lengths, dtype=np.int64).tolist()
    return [joined[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)], total


def _carried(data: NDArray[np.uint8], lengths: NDArray[np.int32]) -> list[bytes | None]:
    found, _ = _split(data, np.maximum(lengths, 0))
    return [None if length < 0 else head for head, length in zip(found, lengths.tolist(), strict=True)]
