"""Kafka through confluent-kafka, that is librdkafka.

Fields of records are read a whole batch at a time (`map` of the C methods), and batches are handed
over with one call: per message, Python runs no loop of its own but the delivery callback.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Capabilities,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.drivers.kafka_topics import LOGGER, KafkaTopics, bad_setting
from streamgauge.payload.header import RECORD_HEADER, sequences
from streamgauge.payload.making import Outgoing
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND

_CONSUME_AT_ONCE = 2000
"""Measured: 500 reads 1.4M messages of 100 B a second, 2000 reads 1.9M, 4000 fewer again."""
_QUEUE_MESSAGES = 100_000
_QUEUE_KBYTES = 1_048_576


class Settings(SpecModel):
    bootstrap: str | None = None
    """host:port[,host:port …]; else the system that the run starts, or `cluster up`."""


class KafkaConfluent(Driver):
    name = "kafka_confluent"
    capabilities = Capabilities(durable=True, ordered=True, acked=True, record_headers=True)
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        settings = Settings.model_validate(target.settings)
        bootstrap = settings.bootstrap or endpoints.get("bootstrap") or target.client.get("bootstrap.servers")
        if not bootstrap:
            raise BadInput(
                f"target {target.name}: settings.bootstrap: no Kafka address, and no system to start"
            )
        self._target = target
        self._client: dict[str, Any] = {**target.client, "bootstrap.servers": bootstrap}
        self._topics = KafkaTopics(self._client)

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {"librdkafka": confluent_kafka.libversion()[0], **self._topics.check_reachable(deadline_s)}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        return self._topics.prepare(topics, names)

    def remove_topics(self, names: list[str]) -> None:
        self._topics.remove(names)

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return self._topics.end_offsets(topics, partitions)

    def producer(self, options: ProducerOptions) -> Producer:
        client = {"acks": options.acks, "compression.type": options.compression, **self._client}
        return _Producer({**client, **self._target.producer_client}, options)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        # Nothing is ever committed, so no offsets need be kept for it.
        own: dict[str, Any] = {"enable.auto.commit": False, "enable.auto.offset.store": False}
        own["group.id"] = options.group or f"streamgauge-{options.number}"
        return _Consumer({**own, **self._client, **self._target.consumer_client}, options)


class _Producer(Producer):
    def __init__(self, client: dict[str, Any], options: ProducerOptions) -> None:
        self._client, self._options = client, options
        self._topics, self._carrier = options.topics, options.carrier
        try:
            self._producer = confluent_kafka.Producer(client, logger=LOGGER)
            metadata = [self._producer.list_topics(name, timeout=15).topics[name] for name in self._topics]
        except KafkaException as error:
            if error.args[0].code() == KafkaError._INVALID_ARG:
                raise bad_setting(error) from None
            raise Unreachable(f"producer {options.number}: {error.args[0].str()}") from None
        self._one_partition = all(len(topic.partitions) == 1 for topic in metadata)
        self._most_messages = int(client.get("queue.buffering.max.messages", _QUEUE_MESSAGES))
        self._most_bytes = int(client.get("queue.buffering.max.kbytes", _QUEUE_KBYTES)) * 1024
        self._largest = 1
        self._taken = self._told = 0
        self._left: list[tuple[str, dict[str, Any]]] = []
        self._delivered: list[Message] = []
        self._heads: list[bytes] = []
        self._failed: list[tuple[KafkaError, bytes]] = []

    def send(self, batch: Outgoing, topic: int) -> int:
        self._largest = max(self._largest, len(batch.values[0]))
        # Below librdkafka's own limits, so that it never refuses a message in the middle of a batch.
        room = min(self._most_messages, self._most_bytes // self._largest) - (self._taken - self._told)
        if room <= 0 or (self._left and not self._send_left()):
            return 0
        if len(batch) > room:
            batch = Outgoing(
                batch.first_sequence,
                batch.values[:room],
                batch.keys and batch.keys[:room],
                batch.headers and batch.headers[:room],
            )
        if batch.headers is None:
            self._send_together(batch, self._topics[topic])
        else:
            self._send_singly(batch, self._topics[topic])
        self._taken += len(batch)
        return len(batch)

    def _send_together(self, batch: Outgoing, topic: str) -> None:
        if batch.keys is None:
            messages: list[dict[str, Any]] = [{"value": value} for value in batch.values]
        else:
            messages = [{"value": v, "key": k} for v, k in zip(batch.values, batch.keys, strict=True)]
        if self._producer.produce_batch(topic, messages, -1, self._on_delivery) < len(messages):
            self._sort_refused(topic, messages)

    def _send_singly(self, batch: Outgoing, topic: str) -> None:
        """The batch call takes no record headers."""
        assert batch.headers is not None
        keys: list[Any] = batch.keys or [None] * len(batch)
        for value, key, headers in zip(batch.values, keys, batch.headers, strict=True):
            message = {"value": value, "key": key, "headers": headers, "on_delivery": self._on_delivery}
            if self._carrier == "headers":
                # A delivery report comes without the record's headers, so it has to be told whose it is.
                message["on_delivery"] = partial(self._on_delivery_of, dict(headers)[RECORD_HEADER])
            try:
                self._producer.produce(topic, **message)
            except BufferError:
                self._left.append((topic, message))

    def _sort_refused(self, topic: str, messages: list[dict[str, Any]]) -> None:
        """A full queue: they are sent later. Anything else is the fate of the message."""
        for message in messages:
            error = message.pop("_error", None)
            if error is None:
                continue
            if error.code() == KafkaError._QUEUE_FULL:
                self._left.append((topic, {**message, "on_delivery": self._on_delivery}))
            else:
                carried = message["value"] if self._carrier == "value" else message["key"]
                self._failed.append((error, carried))

    def _send_left(self) -> bool:
        while self._left:
            topic, message = self._left[0]
            try:
                self._producer.produce(topic, **message)
            except BufferError:
                return False
            self._left.pop(0)
        return True

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._delivered.append(message)
        else:
            self._failed.append((error, self._carried([message])[0]))

    def _on_delivery_of(self, head: bytes, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._delivered.append(message)
            self._heads.append(head)
        else:
            self._failed.append((error, head))

    def poll(self, timeout_s: float) -> Acks | None:
        if self._left:
            self._send_left()
        self._producer.poll(timeout_s)
        if not self._delivered and not self._failed:
            return None
        delivered, self._delivered = self._delivered, []
        failed, self._failed = self._failed, []
        self._told += len(delivered) + len(failed)
        numbers = sequences(self._carried(delivered)) if delivered else np.zeros(0, np.int64)
        count = len(delivered)
        partitions: Any = 0 if self._one_partition else _column(Message.partition, delivered, np.int32)
        # Without acks from a broker nobody knows an offset.
        no_offsets = self._options.acks == "0"
        offsets = np.full(count, UNKNOWN) if no_offsets else _column(Message.offset, delivered, np.int64)
        acks = Acks(numbers, partitions, offsets)
        return _with_failures(acks, failed) if failed else acks

    def _carried(self, messages: list[Message]) -> list[bytes]:
        if self._carrier == "value":
            return list(map(Message.value, messages))
        if self._carrier == "key":
            return list(map(Message.key, messages))
        heads, self._heads = self._heads, []
        return heads

    def outstanding(self) -> int:
        return self._taken - self._told

    def flush_soon(self) -> None:
        # A flush that does not wait: librdkafka then sends what it has without lingering.
        self._producer.flush(0)

    def settings_in_force(self) -> dict[str, Any]:
        return dict(self._client)

    def close(self) -> None:
        self._producer.purge()
        self._producer.close()


def _with_failures(acks: Acks, failed: list[tuple[KafkaError, bytes]]) -> Acks:
    numbers = sequences([carried for _, carried in failed])
    nowhere = np.full(len(failed), UNKNOWN)
    partitions = np.broadcast_to(np.asarray(acks.partitions, np.int32), (len(acks),))
    return Acks(
        np.concatenate([acks.sequences, numbers]),
        np.concatenate([partitions, nowhere.astype(np.int32)]),
        np.concatenate([acks.offsets, nowhere]),
        {int(n): error.str() for n, (error, _) in zip(numbers, failed, strict=True)},
    )


class _Consumer(Consumer):
    def __init__(self, client: dict[str, Any], options: ConsumerOptions) -> None:
        self._client, self._options = client, options
        self._topic_numbers = {name: number for number, name in enumerate(options.topics)}
        self._early: list[Received] = []
        try:
            self._consumer = confluent_kafka.Consumer(client, logger=LOGGER)
        except KafkaException as error:
            raise bad_setting(error) from None
        if options.group is None:
            self._consumer.assign([self._from_start(place) for place in options.partitions])
            self._one_partition = len(options.partitions) == 1
        else:
            self._one_partition = False
            self._consumer.subscribe(list(options.topics), on_assign=self._on_assign)

    def _from_start(self, place: tuple[int, int]) -> TopicPartition:
        topic, partition = place
        return TopicPartition(self._options.topics[topic], partition, self._options.start.get(place, 0))

    def _on_assign(self, consumer: confluent_kafka.Consumer, places: list[TopicPartition]) -> None:
        consumer.assign([self._from_start((self._topic_numbers[p.topic], p.partition)) for p in places])

    def wait_ready(self, deadline_s: float) -> None:
        """Ready when a fetch of every partition has been answered: then its end is known."""
        deadline = time.monotonic() + deadline_s
        while time.monotonic() < deadline:
            if (early := self._fetch(0.02)) is not None:
                self._early.append(early)
            places = self._consumer.assignment()
            if places and all(self._end_known(place) for place in places):
                return
        raise Unreachable(
            f"consumer {self._options.number} could not read its partitions within {deadline_s:g} s; "
            "check that the brokers' advertised addresses can be reached"
        )

    def _end_known(self, place: TopicPartition) -> bool:
        return bool(self._consumer.get_watermark_offsets(place, cached=True)[1] >= 0)

    def poll(self, timeout_s: float) -> Received | None:
        return self._early.pop(0) if self._early else self._fetch(timeout_s)

    def _fetch(self, timeout_s: float) -> Received | None:
        first = self._consumer.poll(timeout_s)
        if first is None:
            return None
        records = [first, *self._consumer.consume(_CONSUME_AT_ONCE - 1, 0)]
        if self._one_partition and (unbroken := self._unbroken(records)) is not None:
            return unbroken
        kinds, stamps = _timestamps(records)
        if not kinds.all():
            # Events other than records have no timestamp; old records may have none either.
            records = _without_events(records)
            if not records:
                return None
            kinds, stamps = _timestamps(records)
        return Received(
            values=_values(records),
            carried=self._carried(records),
            topics=0 if len(self._topic_numbers) == 1 else self._topic_column(records),
            partitions=_column(Message.partition, records, np.int32),
            offsets=_column(Message.offset, records, np.int64),
            timestamps_ms=stamps,
            timestamp_kind=kinds.astype(np.int8),
        )

    def _unbroken(self, records: list[Message]) -> Received | None:
        """A run of one partition without gaps: then two offsets tell all, and append times only rise.

        Asking every record for both would be a third of the Python work; None when it is no such run.
        """
        first, last, count = records[0].offset(), records[-1].offset(), len(records)
        if first is None or last is None or last - first != count - 1:
            return None
        if records[0].timestamp()[0] != BROKER_TIME_APPEND:
            kinds, stamps = _timestamps(records)
        else:
            kinds, stamps = np.full(count, BROKER_TIME_APPEND, np.int8), _rising(records)
        if not kinds.all():
            return None
        topic, partition = self._options.partitions[0]
        return Received(
            values=_values(records),
            carried=self._carried(records),
            topics=topic,
            partitions=partition,
            offsets=np.arange(first, last + 1),
            timestamps_ms=stamps,
            timestamp_kind=kinds.astype(np.int8),
        )

    def _carried(self, records: list[Message]) -> list[bytes | None] | None:
        if self._options.carrier == "value":
            return None
        if self._options.carrier == "key":
            return list(map(Message.key, records))
        return [dict(record.headers() or ()).get(RECORD_HEADER) for record in records]

    def _topic_column(self, records: list[Message]) -> Any:
        return np.fromiter(
            map(self._topic_numbers.__getitem__, map(Message.topic, records)), np.int32, len(records)
        )

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._early:
            return False
        for place in self._consumer.position(self._consumer.assignment()):
            number = (self._topic_numbers[place.topic], place.partition)
            begun = place.offset if place.offset >= 0 else self._options.start.get(number, 0)
            if begun < ends.get(number, 0):
                return False
        return True

    def settings_in_force(self) -> dict[str, Any]:
        return dict(self._client)

    def close(self) -> None:
        self._consumer.close()


def _values(records: list[Message]) -> list[bytes]:
    values = list(map(Message.value, records))
    return [value or b"" for value in values] if None in values else values


def _column(field: Any, records: list[Message], kind: Any) -> Any:
    return np.fromiter(map(field, records), kind, len(records))


def _timestamps(records: list[Message]) -> tuple[Any, Any]:
    """Kinds and times, a row a record."""
    pairs = np.fromiter(chain.from_iterable(map(Message.timestamp, records)), np.int64, 2 * len(records))
    return pairs[0::2], pairs[1::2]


def _rising(records: list[Message]) -> Any:
    """Times that only rise: look for the few places where they do."""
    stamps = np.empty(len(records), np.int64)
    begin, end = 0, len(records)
    last = records[-1].timestamp()[1]
    while begin < end:
        stamp = records[begin].timestamp()[1]
        rise = end
        if stamp != last:
            rise = bisect_right(records, stamp, begin, end, key=lambda record: record.timestamp()[1])
        stamps[begin:rise] = stamp
        begin = max(rise, begin + 1)
    return stamps


def _without_events(records: list[Message]) -> list[Message]:
    for record in records:
        if record.error() is not None and not record.error().retriable():
            raise CaseFailed(f"the consumer cannot go on: {record.error().str()}")
    return [record for record in records if record.error() is None]
