"""Reading beneath confluent-kafka's message objects: whole batches, straight into columns.

An object a record is two thirds of the work of reading small ones. The compiled `_rdkafka_batches`
takes records off a queue of librdkafka's own instead. It is an extra: where it was not built (no C
compiler at installation), or confluent-kafka is of a version whose layout nobody has looked at,
records are read as objects.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import confluent_kafka
import numpy as np
from confluent_kafka import KafkaError, cimpl

from streamgauge.drivers.contract import Received
from streamgauge.drivers.kafka.confluent.trouble import Trouble
from streamgauge.payload.reading import Packed

try:
    from streamgauge.drivers.kafka.confluent import _rdkafka_batches
except ImportError:
    _rdkafka_batches = None  # type: ignore[assignment]

_KNOWN_LAYOUT = (2, 16)
"""Of confluent-kafka's consumer object: librdkafka's handle comes right after Python's own part."""
_INTERFACE = 2
"""Of the compiled part that belongs to this module; one of an older build is not used."""
_AT_ONCE = 2000


def available() -> bool:
    known = tuple(int(part) for part in confluent_kafka.__version__.split(".")[:2]) == _KNOWN_LAYOUT
    return known and getattr(_rdkafka_batches, "INTERFACE", None) == _INTERFACE


class BatchQueue:
    """Takes over the records of a consumer's partitions; `hear` is told what is no record."""

    def __init__(self, consumer: Any, topics: Mapping[str, int], hear: Callable[[Trouble], None]) -> None:
        self._library, self._topics, self._hear = _library(), topics, hear
        self._numbers: dict[int, int] = {}
        self._handle = ctypes.c_void_p.from_address(id(consumer) + object.__basicsize__)
        self._queue = self._library.rd_kafka_queue_new(self._handle)
        self._sources: dict[tuple[int, int], int] = {}
        self._consume = self._address("rd_kafka_consume_callback_queue")
        self._batch = _rdkafka_batches.batch(
            self._address("rd_kafka_message_timestamp"), self._address("rd_kafka_yield")
        )

    def _address(self, function: str) -> int:
        address = ctypes.cast(getattr(self._library, function), ctypes.c_void_p).value
        assert address is not None
        return address

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
        taken = _rdkafka_batches.take(
            self._batch, self._consume, self._queue, _AT_ONCE, int(timeout_s * 1000)
        )
        if taken is None:
            return None
        errors, columns = taken
        for code, topic, partition, offset, said in errors:
            words = said.decode(errors="replace") or KafkaError(code).str()
            self._hear(Trouble(code, words, self._topic_name(topic), partition, offset))
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

    def close(self) -> None:
        """Before the consumer is closed."""
        for queue in (*self._sources.values(), self._queue):
            self._library.rd_kafka_queue_destroy(queue)
        self._sources = {}


def _library() -> ctypes.CDLL:
    """The librdkafka that confluent-kafka has loaded: symbols are looked up in what it depends on, too."""
    library = ctypes.CDLL(cimpl.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
        ("rd_kafka_queue_new", pointer, [pointer]),
        ("rd_kafka_queue_get_partition", pointer, [pointer, ctypes.c_char_p, ctypes.c_int32]),
        ("rd_kafka_queue_forward", None, [pointer, pointer]),
        ("rd_kafka_queue_destroy", None, [pointer]),
        ("rd_kafka_topic_name", ctypes.c_char_p, [pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
