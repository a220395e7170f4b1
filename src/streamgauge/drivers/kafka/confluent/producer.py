"""Producing through librdkafka: whole batches in, acks out."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError, KafkaException, Message

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.contract import UNKNOWN, Acks, Producer, ProducerOptions, SharedSetting
from streamgauge.drivers.kafka.confluent.columns import column
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.topics import LOGGER, bad_setting
from streamgauge.payload.header import RECORD_HEADER, sequences
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinals

# librdkafka's own defaults.
_QUEUE_MESSAGES = 100_000
_QUEUE_KBYTES = 1_048_576
_FLUSH_S = 0.001
_TRANSACTION_S, _ASK_AGAIN_S = 30.0, 0.05


class RdkafkaProducer(Producer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions) -> None:
        self._settings, self._options = settings, options
        client = settings.native
        self._topics, self._carrier = options.topics, options.carrier
        in_header = partial(sequences, at=options.sequence_at)
        self._sequences: Callable[[list[bytes]], Any] = (
            ordinals if options.carrier == "ordinal" else in_header
        )
        self._partition, names = -1, self._topics
        if options.place is not None:
            self._partition, names = options.place[1], (self._topics[options.place[0]],)
        try:
            self._producer = confluent_kafka.Producer(client, logger=LOGGER)
            metadata = [self._producer.list_topics(name, timeout=15).topics[name] for name in names]
            if options.transactional_id is not None:
                self._producer.init_transactions(_TRANSACTION_S)
        except KafkaException as error:
            if error.args[0].code() == KafkaError._INVALID_ARG:
                raise bad_setting(error) from None
            raise Unreachable(f"producer {options.number}: {error.args[0].str()}") from None
        self._one_partition = all(len(topic.partitions) == 1 for topic in metadata)
        self._in_transaction = False
        self._report = self._on_delivery if options.completions else None
        self._most_messages = int(client.get("queue.buffering.max.messages", _QUEUE_MESSAGES))
        self._most_bytes = int(client.get("queue.buffering.max.kbytes", _QUEUE_KBYTES)) * 1024
        self._largest = 1
        self._taken = self._told = 0
        self._flushing = False
        self._left: list[tuple[str, dict[str, Any]]] = []
        self._delivered: list[Message] = []
        self._heads: list[bytes] = []
        self._failed: list[tuple[KafkaError, bytes]] = []

    def send(self, batch: Outgoing, topic: int) -> int:
        self._flushing = False
        self._largest = max(self._largest, len(batch.values[0]))
        # Below librdkafka's own limits, so that it never refuses a message in the middle of a batch.
        room = min(self._most_messages, self._most_bytes // self._largest) - self.outstanding()
        if room <= 0 or (self._left and not self._send_left()):
            return 0
        if len(batch) > room:
            batch = batch.head(room)
        if self._options.transactional_id is not None and not self._in_transaction:
            self._producer.begin_transaction()
            self._in_transaction = True
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
        if self._producer.produce_batch(topic, messages, self._partition, self._report) < len(messages):
            self._sort_refused(topic, messages)

    def _send_singly(self, batch: Outgoing, topic: str) -> None:
        """The batch call takes no record headers."""
        assert batch.headers is not None
        keys: list[Any] = batch.keys or [None] * len(batch)
        for value, key, headers in zip(batch.values, keys, batch.headers, strict=True):
            message = {"value": value, "key": key, "headers": headers, "on_delivery": self._report}
            message["partition"] = self._partition
            if self._carrier == "headers" and self._report is not None:
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
                later = {**message, "on_delivery": self._report, "partition": self._partition}
                self._left.append((topic, later))
            else:
                self._failed.append((error, self._carried_in(message)))

    def _carried_in(self, message: dict[str, Any]) -> bytes:
        """What tells whose it is, of a message that was not taken."""
        if self._carrier == "headers":
            return bytes(dict(message["headers"])[RECORD_HEADER])
        return bytes(message["value"] if self._carrier == "value" else message["key"])

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
        if self._flushing:
            self._flush(timeout_s)
        else:
            self._producer.poll(timeout_s)
        if not self._delivered and not self._failed:
            return None
        delivered, self._delivered = self._delivered, []
        failed, self._failed = self._failed, []
        self._told += len(delivered) + len(failed)
        numbers = self._sequences(self._carried(delivered)) if delivered else np.zeros(0, np.int64)
        count = len(delivered)
        partitions: Any
        if self._options.place is not None:
            partitions = self._partition
        else:
            partitions = 0 if self._one_partition else column(Message.partition, delivered, np.int32)
        # Without acks from a broker nobody knows an offset.
        no_offsets = self._options.acks == "0"
        offsets = np.full(count, UNKNOWN) if no_offsets else column(Message.offset, delivered, np.int64)
        acks = Acks(numbers, partitions, offsets)
        return self._with_failures(acks, failed) if failed else acks

    def _with_failures(self, acks: Acks, failed: list[tuple[KafkaError, bytes]]) -> Acks:
        numbers = self._sequences([carried for _, carried in failed])
        nowhere = np.full(len(failed), UNKNOWN)
        partitions = np.broadcast_to(np.asarray(acks.partitions, np.int32), (len(acks),))
        return Acks(
            np.concatenate([acks.sequences, numbers]),
            np.concatenate([partitions, nowhere.astype(np.int32)]),
            np.concatenate([acks.offsets, nowhere]),
            {int(n): error.str() for n, (error, _) in zip(numbers, failed, strict=True)},
        )

    def _carried(self, messages: list[Message]) -> list[bytes]:
        if self._carrier == "value":
            return list(map(Message.value, messages))
        if self._carrier in ("key", "ordinal"):
            return list(map(Message.key, messages))
        heads, self._heads = self._heads, []
        return heads

    def outstanding(self) -> int:
        if self._report is None:
            return len(self._producer) + len(self._left) + len(self._failed)
        return self._taken - self._told

    def commit(self) -> str | None:
        if not self._in_transaction:
            return None
        error = self._end_by(self._producer.commit_transaction)
        if error is not None and error.txn_requires_abort():
            self._abort()
            return str(error.str())
        if error is not None:
            raise self._unended("committed", error)
        self._in_transaction = False
        return None

    def _end_by(self, act: Callable[[float], None]) -> KafkaError | None:
        """Why the transaction has not ended; whether it has is not known until that was asked again: brokers
        that are away for a while answer nothing."""
        until = time.monotonic() + _TRANSACTION_S
        while True:
            try:
                act(_TRANSACTION_S)
            except KafkaException as failure:
                error: KafkaError = failure.args[0]
                if error.txn_requires_abort() or not error.retriable() or time.monotonic() > until:
                    return error
            else:
                return None
            time.sleep(_ASK_AGAIN_S)

    def abort(self) -> None:
        """When all of it is in the log: else nothing would be there that must not be read. And what is still
        under way when librdkafka aborts may reach the broker behind that, which it then takes for fatal."""
        if self._in_transaction:
            self._producer.flush(_TRANSACTION_S)
            self._abort()

    def _abort(self) -> None:
        left, self._left = self._left, []
        purged = KafkaError(KafkaError._PURGE_QUEUE)
        self._failed += [(purged, self._carried_in(message)) for _, message in left]
        if (error := self._end_by(self._producer.abort_transaction)) is not None:
            raise self._unended("aborted", error)
        self._in_transaction = False

    def _unended(self, how: str, error: KafkaError) -> CaseFailed:
        number = self._options.number
        return CaseFailed(f"producer {number}: a transaction could not be {how}: {error.str()}")

    def flush_soon(self) -> None:
        self._flushing = True

    def _flush(self, timeout_s: float) -> None:
        """librdkafka lingers no more while a flush lasts; a short one, so that acks are told in time."""
        deadline = time.monotonic() + timeout_s
        while self._producer.flush(_FLUSH_S) and not (self._delivered or self._failed):
            if time.monotonic() >= deadline:
                return

    def settings_in_force(self) -> dict[str, Any]:
        return {**self._settings.untold(), "loop": "python"}

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared()

    def close(self) -> None:
        self._producer.purge()
        self._producer.close()
