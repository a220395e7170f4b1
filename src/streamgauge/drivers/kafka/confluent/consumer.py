"""Consuming through librdkafka: whatever is there, in one batch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from numpy.typing import NDArray

from streamgauge.drivers.contract import ColumnReader, ConsumerOptions, Received, SharedSetting
from streamgauge.drivers.kafka.confluent.batches import BatchQueue, RowQueue, available
from streamgauge.drivers.kafka.confluent.columns import column
from streamgauge.drivers.kafka.confluent.trouble import Trouble
from streamgauge.drivers.kafka.consumer import KafkaConsumer
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.topics import LOGGER, bad_setting
from streamgauge.native.loading import Loop
from streamgauge.payload.header import RECORD_HEADER

_COMMITTED_S = 10.0
_CONSUME_AT_ONCE = 2000
"""Measured: 500 reads fewer messages of 100 B a second, and so does 4000."""


class RdkafkaConsumer(KafkaConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions, *, objects: bool = False) -> None:
        super().__init__(options)
        self._settings = settings
        self._ends: dict[tuple[int, int], int] = {}
        """Where the end of a partition was reached, which may be behind its last record."""
        self._begun: dict[tuple[int, int], int] = {}
        """Of a member of a group: where each partition was begun that was dealt out last."""
        self._told: list[Trouble] = []
        """What came by the client's error callback: to be looked at when the call is over that it came in."""
        native = {**settings.native, "error_cb": self._on_error}
        try:
            self._consumer = confluent_kafka.Consumer(native, logger=LOGGER)
        except KafkaException as error:
            raise bad_setting(error) from None
        self._batches: BatchQueue | None = None
        self._loop: Loop = "python"
        """Who identifies records and writes them down."""
        if not objects and options.group is None and options.carrier == "value" and available():
            self._batches = BatchQueue(self._consumer, self._topic_numbers, self._hear)
        self.begin()

    def _subscribe(self) -> None:
        self._consumer.subscribe(list(self._options.topics), on_assign=self._on_assign)

    def _assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._ends = {}
        if self._batches is not None:
            self._batches.take_over(start)
        self._consumer.assign([self._from_start(place) for place in start])

    def _from_start(self, place: tuple[int, int]) -> TopicPartition:
        topic, partition = place
        return TopicPartition(self._options.topics[topic], partition, self._start.get(place, 0))

    def _on_assign(self, consumer: confluent_kafka.Consumer, places: list[TopicPartition]) -> None:
        self._dealt_count += 1
        numbers = [(self._topic_numbers[place.topic], place.partition) for place in places]
        begun = [self._from_start(number) for number in numbers]
        if self._options.commits:
            for place, known in zip(begun, self._committed(begun), strict=True):
                place.offset = max(place.offset, known)
        self._begun = {number: place.offset for number, place in zip(numbers, begun, strict=True)}
        consumer.assign(begun)

    def _committed(self, places: list[TopicPartition]) -> list[int]:
        """How far members of the group say that they have read; below 0: nobody said."""
        try:
            return [place.offset for place in self._consumer.committed(places, _COMMITTED_S)]
        except KafkaException as error:
            LOGGER.warning("consumer %s: committed offsets: %s", self._options.number, error.args[0].str())
            return [-1] * len(places)

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        """Where others may be gone, somebody has to have read what was theirs."""
        if not super().caught_up(ends):
            return False
        if not self._options.commits:
            return True
        with suppress(KafkaException):  # nothing read since the last time
            self._consumer.commit(asynchronous=False)
        own = {number for number, _ in self._positions()}
        others = [place for place in ends if place not in own]
        known = self._committed([TopicPartition(self._options.topics[t], p) for t, p in others])
        return all(offset >= ends[place] for place, offset in zip(others, known, strict=True))

    def _ends_known(self) -> bool:
        places = self._consumer.assignment()
        return bool(places) and all(
            self._consumer.get_watermark_offsets(place, cached=True)[1] >= 0 for place in places
        )

    def _on_error(self, error: KafkaError) -> None:
        self._told.append(Trouble.of_client(error))

    def _hear(self, trouble: Trouble) -> None:
        if trouble.is_end_of_partition and trouble.topic is not None:
            self._ends[self._topic_numbers[trouble.topic], trouble.partition] = trouble.offset
        trouble.check()

    def _hear_told(self) -> None:
        told, self._told = self._told, []
        for trouble in told:
            trouble.check()

    def column_reader(self, tag: int) -> ColumnReader | None:
        if self._batches is None:
            return None
        self._loop = "native"
        return _RowReader(self, self._batches.rows(tag))

    def hear_events(self) -> None:
        """What is no record, and does not come with them."""
        if (event := self._consumer.poll(0)) is not None:
            self._without_events([event])
        if self._told:
            self._hear_told()

    def _fetch_early(self, timeout_s: float) -> Received | None:
        if self._loop == "python":
            return super()._fetch_early(timeout_s)
        # Records wait in their queue for who reads them into columns.
        self.hear_events()
        time.sleep(timeout_s)
        return None

    def _fetch(self, timeout_s: float) -> Received | None:
        if self._batches is not None:
            self.hear_events()
            return self._batches.take(timeout_s)
        first = self._consumer.poll(timeout_s)
        if self._told:
            self._hear_told()
        if first is None:
            return None
        records = [first, *self._consumer.consume(_CONSUME_AT_ONCE - 1, 0)]
        kinds, stamps = _timestamps(records)
        if not kinds.all():
            # Events other than records have no timestamp; old records may have none either.
            records = self._without_events(records)
            if not records:
                return None
            kinds, stamps = _timestamps(records)
        return Received(
            values=_values(records),
            carried=self._carried(records),
            topics=0 if len(self._topic_numbers) == 1 else self._topic_column(records),
            partitions=column(Message.partition, records, np.int32),
            offsets=column(Message.offset, records, np.int64),
            timestamps_ms=stamps,
            timestamp_kind=kinds.astype(np.int8),
        )

    def _carried(self, records: list[Message]) -> list[bytes | None] | None:
        if self._options.carrier == "value":
            return None
        if self._options.carrier in ("key", "ordinal"):
            return list(map(Message.key, records))
        return [dict(record.headers() or ()).get(RECORD_HEADER) for record in records]

    def _topic_column(self, records: list[Message]) -> Any:
        return np.fromiter(
            map(self._topic_numbers.__getitem__, map(Message.topic, records)), np.int32, len(records)
        )

    def _positions(self) -> Iterable[tuple[tuple[int, int], int]]:
        for place in self._consumer.position(self._consumer.assignment()):
            number = (self._topic_numbers[place.topic], place.partition)
            begun = place.offset if place.offset >= 0 else self._begun.get(number, self._start.get(number, 0))
            yield number, max(begun, self._ends.get(number, 0))

    def _without_events(self, records: list[Message]) -> list[Message]:
        for record in records:
            if (error := record.error()) is not None:
                self._hear(Trouble.of_message(record, error))
        return [record for record in records if record.error() is None]

    def settings_in_force(self) -> dict[str, Any]:
        read_as = "batches" if self._batches else "objects"
        return {**self._settings.native, "records read as": read_as, "loop": self._loop}

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared()

    def close(self) -> None:
        if self._batches is None or self._batches.close():
            self._consumer.close()


class _RowReader(ColumnReader):
    """Records go from librdkafka's queue into columns, in compiled code."""

    def __init__(self, consumer: RdkafkaConsumer, rows: RowQueue) -> None:
        self._consumer, self._rows = consumer, rows

    @property
    def intended_ns(self) -> NDArray[np.int64]:
        return self._rows.intended_ns

    def read(self, columns: Mapping[str, NDArray[Any]], timeout_s: float) -> int:
        self._consumer.hear_events()
        return self._rows.take(columns, timeout_s)


def _values(records: list[Message]) -> list[bytes]:
    values = list(map(Message.value, records))
    return [value or b"" for value in values] if None in values else values


def _timestamps(records: list[Message]) -> tuple[Any, Any]:
    """Kinds and times, a row a record."""
    pairs = np.fromiter(chain.from_iterable(map(Message.timestamp, records)), np.int64, 2 * len(records))
    return pairs[0::2], pairs[1::2]
