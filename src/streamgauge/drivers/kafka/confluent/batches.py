"""Reading beneath confluent-kafka's message objects: whole batches, or straight into columns.

An object a record is two thirds of the work of reading small ones. The compiled loops take records off a
queue of librdkafka's own instead. They are an extra: where they were not built (no C compiler at
installation), or confluent-kafka is of a version whose layout nobody has looked at, records are read as
objects.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import Received
from streamgauge.drivers.kafka.confluent.librdkafka import address_of, library
from streamgauge.drivers.kafka.confluent.trouble import Trouble
from streamgauge.native.loading import compiled_loops
from streamgauge.payload.reading import Packed

_KNOWN_LAYOUT = (2, 16)
"""Of confluent-kafka's consumer object: librdkafka's handle comes right after Python's own part."""
_AT_ONCE = 2000
_ROWS_AT_ONCE = 8192
_LINGER_MS = 20
"""So long the compiled loop goes on by itself once a record has come, as long as there is room: a turn of
Python's costs more than a record. Each is stamped when it comes, all the same."""
_CLOSE_DEADLINE_S = 5.0
_OF_A_CHUNK = (
    "state",
    "producer",
    "sequence",
    "partition",
    "offset",
    "size_bytes",
    "broker_ms",
    "broker_time",
    "received_ns",
)


def available() -> bool:
    known = tuple(int(part) for part in confluent_kafka.__version__.split(".")[:2]) == _KNOWN_LAYOUT
    return known and compiled_loops() is not None


class BatchQueue:
    """Takes over the records of a consumer's partitions; `hear` is told what is no record."""

    def __init__(self, consumer: Any, topics: Mapping[str, int], hear: Callable[[Trouble], None]) -> None:
        self._library, self._topics, self._hear = library(), topics, hear
        loops: Any = compiled_loops()
        self._loops = loops
        self._numbers: dict[int, int] = {}
        self._handle = ctypes.c_void_p.from_address(id(consumer) + object.__basicsize__)
        self._queue = self._library.rd_kafka_queue_new(self._handle)
        self._sources: dict[tuple[int, int], int] = {}
        self._consume = address_of("rd_kafka_consume_callback_queue")
        self._timestamp, self._yield = address_of("rd_kafka_message_timestamp"), address_of("rd_kafka_yield")
        self._batch = self._loops.batch(self._timestamp, self._yield)
        self._using = threading.Lock()
        """Held while records are read: a queue that goes away meanwhile would take the process along."""
        self._is_closed = False

    def take_over(self, partitions: Iterable[tuple[int, int]]) -> None:
        """Before they are assigned; what was taken over once stays so."""
        names = list(self._topics)
        for topic, partition in partitions:
            if (topic, partition) not in self._sources:
                name = names[topic].encode()
                source = self._library.rd_kafka_queue_get_partition(self._handle, name, partition)
                self._library.rd_kafka_queue_forward(source, self._queue)
                self._sources[topic, partition] = source

    def take(self, timeout_s: float) -> Received | None:
        """What has come; wait for the first record as long as `timeout_s`."""
        with self._using:
            self._check_open()
            taken = self._loops.take(self._batch, self._consume, self._queue, _AT_ONCE, int(timeout_s * 1000))
        if taken is None:
            return None
        errors, columns = taken
        self._tell(errors)
        if columns is None:
            return None
        values, sizes, topics, partitions, offsets, times, kinds = columns
        return Received(
            values=Packed(values, np.frombuffer(sizes, np.int64)),
            carried=None,
            topics=0 if len(self._topics) == 1 else self._topic_column(np.frombuffer(topics, np.int64)),
            partitions=np.frombuffer(partitions, np.int32),
            offsets=np.frombuffer(offsets, np.int64),
            timestamps_ms=np.frombuffer(times, np.int64),
            timestamp_kind=np.frombuffer(kinds, np.int8),
        )

    def rows(self, tag: int) -> RowQueue:
        """The same records, as rows of events of the case with this tag."""
        functions = (self._consume, self._timestamp, self._yield, 0)
        return RowQueue(self, self._loops.rows(functions, self._queue, tag))

    def take_rows(self, rows: RowQueue, columns: Mapping[str, Any], timeout_s: float) -> int:
        most = min(len(columns["state"]), _ROWS_AT_ONCE)
        given = (*(columns[name] for name in _OF_A_CHUNK), rows.handles, rows.intended_ns)
        with self._using:
            self._check_open()
            count, errors = self._loops.take_rows(rows.native, most, int(timeout_s * 1000), _LINGER_MS, given)
        if len(self._topics) == 1:
            columns["topic"][:count] = 0
        elif count:
            columns["topic"][:count] = self._topic_column(rows.handles[:count])
        self._tell(errors)
        return int(count)

    def _tell(self, errors: Iterable[tuple[int, int, int, int, bytes]]) -> None:
        for code, topic, partition, offset, said in errors:
            words = said.decode(errors="replace") or KafkaError(code).str()
            self._hear(Trouble(code, words, self._topic_name(topic), partition, offset))

    def _check_open(self) -> None:
        if self._is_closed:
            raise CaseFailed("the consumer was closed while it was read from")

    def _topic_column(self, handles: Any) -> Any:
        """Records come with librdkafka's handle of their topic."""
        kinds, places = np.unique(handles, return_inverse=True)
        return np.array([self._topic_number(int(handle)) for handle in kinds], np.int32)[places]

    def _topic_number(self, handle: int) -> int:
        if handle not in self._numbers:
            self._numbers[handle] = self._topics[self._topic_name(handle) or ""]
        return self._numbers[handle]

    def _topic_name(self, handle: int) -> str | None:
        return str(self._library.rd_kafka_topic_name(handle).decode()) if handle else None

    def close(self) -> bool:
        """Before the consumer is closed; False: somebody reads on, and it must not be closed."""
        if not self._using.acquire(timeout=_CLOSE_DEADLINE_S):
            return False
        try:
            if not self._is_closed:
                for queue in (*self._sources.values(), self._queue):
                    self._library.rd_kafka_queue_destroy(queue)
                self._sources, self._is_closed = {}, True
        finally:
            self._using.release()
        return True


class RowQueue:
    """What the compiled loop needs beside the columns of a chunk."""

    def __init__(self, queue: BatchQueue, native: Any) -> None:
        self._queue, self.native = queue, native
        self.handles = np.zeros(_ROWS_AT_ONCE, np.int64)
        self.intended_ns = np.zeros(_ROWS_AT_ONCE, np.int64)

    def take(self, columns: Mapping[str, Any], timeout_s: float) -> int:
        """Into the first rows of these columns."""
        return self._queue.take_rows(self, columns, timeout_s)
