"""Record by record: Kafka's own classes called from Python, as one would write it without a bridge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import jpype
import numpy as np
from jpype.types import JArray, JByte

from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.drivers.fates import Fates
from streamgauge.drivers.kafka.consumer import KafkaConsumer
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.java.client import JavaClient, made, mapped
from streamgauge.payload.header import RECORD_HEADER
from streamgauge.payload.making import Outgoing, RecordHeaders

_CLIENTS = "org.apache.kafka.clients"


class RecordProducer(JavaClient, Producer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions, *, count_calls: bool) -> None:
        super().__init__(settings, "producer", count_calls=count_calls)
        self._who = f"producer {options.number}"
        self._topics = [jpype.JString(name) for name in options.topics]
        self._record = jpype.JClass(f"{_CLIENTS}.producer.ProducerRecord")
        self._bytes, self._headers = JArray(JByte), jpype.JClass(_HEADERS)
        self._thread = jpype.JClass("java.lang.Thread")
        kind = jpype.JClass(f"{_CLIENTS}.producer.KafkaProducer")
        self._producer = made(lambda: kind(self.config), self._who, settings)
        duration = jpype.JClass("java.time.Duration")
        self.opened(lambda timeout_ms: self._producer.close(duration.ofMillis(timeout_ms)))
        # Half of the buffer in values: batches have bytes of their own, and `send` must not wait for room.
        self._fates = Fates(most_bytes=int(self._in_force["buffer.memory"]) // 2)
        try:
            for name in options.topics:
                made(partial(self._producer.partitionsFor, name), self._who, settings)
        except BaseException:
            self.close()
            raise
        self.begin_counts()

    def send(self, batch: Outgoing, topic: int) -> int:
        count = min(len(batch), self._fates.room(len(batch.values[0])))
        name, first, make = self._topics[topic], batch.first_sequence, self._bytes
        self._fates.taken(count)
        for row in range(count):
            value = make(batch.values[row])
            key = None if batch.keys is None else make(batch.keys[row])
            headers = None if batch.headers is None else self._java_headers(batch.headers[row])
            record = self._record(name, None, None, key, value, headers)
            try:
                self._producer.send(record, partial(self._on_completion, first + row))
            except jpype.JException as error:
                self._fates.failed(first + row, str(error.getMessage()))
            self.crossings += 3 if key is None else 4
        return count

    def _java_headers(self, headers: RecordHeaders) -> Any:
        made_headers = self._headers()
        for name, value in headers:
            made_headers.add(name, self._bytes(value))
        self.crossings += 1 + 2 * len(headers)
        return made_headers

    def _on_completion(self, sequence: int, metadata: Any, error: Any) -> None:
        """Called by Java, in its own thread."""
        if error is not None:
            self._fates.failed(sequence, str(error.getMessage()))
            self.crossings_besides += 2
        else:
            known = metadata.hasOffset()
            self.crossings_besides += 3 + known
            self._fates.delivered((sequence, metadata.partition(), metadata.offset() if known else UNKNOWN))

    def poll(self, timeout_s: float) -> Acks | None:
        return self._fates.take(timeout_s)

    def outstanding(self) -> int:
        return self._fates.outstanding()

    def flush_soon(self) -> None:
        # Kafka's flush waits, so it gets a thread of Java's.
        flushing = self._thread(self._producer.flush)
        flushing.setDaemon(True)
        flushing.start()
        self.crossings += 3


_HEADERS = "org.apache.kafka.common.header.internals.RecordHeaders"


class RecordConsumer(JavaClient, KafkaConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions, *, count_calls: bool) -> None:
        JavaClient.__init__(self, settings, "consumer", count_calls=count_calls)
        KafkaConsumer.__init__(self, options)
        self._who = f"consumer {options.number}"
        self._duration = jpype.JClass("java.time.Duration")
        self._place = jpype.JClass("org.apache.kafka.common.TopicPartition")
        kind = jpype.JClass(f"{_CLIENTS}.consumer.KafkaConsumer")
        self._consumer = made(lambda: kind(self.config), self._who, settings)
        self.opened(lambda timeout_ms: self._consumer.close(self._duration.ofMillis(timeout_ms)))
        self.begin_counts()
        self.begin()

    def _subscribe(self) -> None:
        self._consumer.subscribe(list(self._options.topics), _listener(self._seek_dealt))
        self.crossings += 1

    def _assign(self, start: Mapping[tuple[int, int], int]) -> None:
        places = [self._place(self._options.topics[t], p) for t, p in start]
        self._consumer.assign(places)
        self.crossings += 1 + len(places)
        self._seek_start(places)

    def _seek_dealt(self, places: Any) -> None:
        self._dealt_count += 1
        self._seek_start(places)

    def _seek_start(self, places: Any) -> None:
        for place in places:
            self._consumer.seek(place, jpype.JLong(self._start.get(self._number(place), 0)))
            self.crossings += 1

    def _number(self, place: Any) -> tuple[int, int]:
        self.crossings += 2
        return self._topic_numbers[str(place.topic())], int(place.partition())

    def _ends_known(self) -> bool:
        places = list(self._consumer.assignment())
        self.crossings += 2 + 4 * len(places)
        return bool(places) and all(self._consumer.currentLag(place).isPresent() for place in places)

    def _positions(self) -> Iterable[tuple[tuple[int, int], int]]:
        places = list(self._consumer.assignment())
        self.crossings += 2 + 3 * len(places)
        return [(self._number(place), int(self._consumer.position(place))) for place in places]

    def _fetch(self, timeout_s: float) -> Received | None:
        try:
            records = self._consumer.poll(self._duration.ofMillis(round(timeout_s * 1000)))
        except jpype.JException as error:
            raise mapped(error, self._who, self._settings) from None
        self.crossings += 2
        values, carried, rows = [], [], []
        several = len(self._topic_numbers) > 1
        for record in records:
            value = record.value()
            values.append(b"" if value is None else bytes(value))
            kind = record.timestampType().id
            topic = self._topic_numbers[str(record.topic())] if several else 0
            rows.append((topic, record.partition(), record.offset(), record.timestamp(), kind))
            carried.append(self._carried(record))
        # The iterator; for each record two calls to get at it, the value's two, and those for its fields.
        self.crossings += 2 + len(rows) * (9 + several)
        return _columns(values, carried, rows, self._options.carrier) if rows else None

    def _carried(self, record: Any) -> bytes | None:
        carrier = self._options.carrier
        if carrier == "value":
            return None
        if carrier == "headers":
            header = record.headers().lastHeader(RECORD_HEADER)
            self.crossings += 4
            return None if header is None else bytes(header.value())
        key = record.key()
        self.crossings += 2
        return None if key is None else bytes(key)


def _columns(values: list[bytes], carried: list[bytes | None], rows: list[Any], carrier: str) -> Received:
    table = np.array(rows, np.int64)
    return Received(
        values=values,
        carried=None if carrier == "value" else carried,
        topics=table[:, 0].astype(np.int32),
        partitions=table[:, 1].astype(np.int32),
        offsets=table[:, 2],
        timestamps_ms=table[:, 3],
        # Kafka's: -1 none, 0 create time, 1 append time.
        timestamp_kind=(table[:, 4] + 1).astype(np.int8),
    )


def _listener(seek: Any) -> Any:
    """What a group deals out is read from where the case begins."""

    @jpype.JImplements(f"{_CLIENTS}.consumer.ConsumerRebalanceListener")
    class SeekStart:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsRevoked(self, revoked: Any) -> None:  # noqa: N802 - Kafka's name
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsAssigned(self, assigned: Any) -> None:  # noqa: N802 - Kafka's name
            seek(list(assigned))

    return SeekStart()
