"""Publishing and subscribing for Python: whole batches to and from Java, in memory that both sides see."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamgauge.drivers.contract import (
    ClientFacts,
    Consumer,
    ConsumerOptions,
    ProducerOptions,
    Received,
)
from streamgauge.drivers.instant_acks import InstantProducer
from streamgauge.drivers.transports_java import closed as no_longer_open
from streamgauge.drivers.transports_java import java_class, opened, shared_memory
from streamgauge.payload.few import FEW
from streamgauge.payload.making import Outgoing
from streamgauge.payload.reading import Packed
from streamgauge.tables.events import BROKER_TIME_NONE

_FIRST_BYTES = 1 << 20
_ROWS = 4096
_BATCH_BYTES = 1 << 20
_MEMORY_BYTES = 1 << 25
"""A batch, what one more look may bring, and the largest message that Aeron takes."""
_ROW_BYTES = 16
_ONE_INT = struct.Struct("=i")
_FEW_INTS = struct.Struct(f"={FEW}i")
_NO_TIMES = np.zeros(FEW, np.int64)


@dataclass
class Wiring:
    """What the clients of one driver share."""

    client: Any
    channel: str
    who: str
    called: Callable[[str, Callable[[], Any]], Any]
    """Calls Java, and maps what it complains of."""
    facts: dict[str, Any]

    def outlet(self, topic: str, partition: int) -> Any:
        arguments = (self.client, self.channel, stream_of(topic, partition))
        return self.called(self.who, lambda: java_class("AeronOutlet")(*arguments))

    def inlet(self, topic: str, partition: int) -> Any:
        arguments = (self.client, self.channel, stream_of(topic, partition))
        return self.called(self.who, lambda: java_class("AeronInlet")(*arguments))


class _Wired(ClientFacts):
    """What both sides tell of themselves."""

    _wiring: Wiring
    _crossings = 0

    def settings_in_force(self) -> dict[str, Any]:
        return self._wiring.facts

    def counters(self) -> dict[str, int]:
        return {"crossings": self._crossings} if self._crossings else {}


class AeronProducer(_Wired, InstantProducer):
    def __init__(
        self, wiring: Wiring, options: ProducerOptions, partitions: int, ends: dict[tuple[str, int], int]
    ) -> None:
        """`ends`: how far each (topic, partition) was published to; kept up to date."""
        super().__init__()
        self._wiring, self._options, self._partitions, self._ends = wiring, options, partitions, ends
        self._turn = 0
        self._outlets = {
            (topic, partition): wiring.outlet(name, partition)
            for topic, name in enumerate(options.topics)
            for partition in range(partitions)
        }
        places, self._java_places = shared_memory(8 * _ROWS)
        self._places = places.view(np.int64)
        self._use_memory(_FIRST_BYTES)
        opened(self)

    def _use_memory(self, size: int) -> None:
        memory, java_memory = shared_memory(size)
        self._bytes = memory.data
        for outlet in self._outlets.values():
            outlet.setMemory(java_memory, self._java_places)

    def send(self, batch: Outgoing, topic: int) -> int:
        partition = self._turn % self._partitions
        outlet = self._outlets[topic, partition]
        count = min(len(batch), _ROWS)
        values = batch.values if count == len(batch) else batch.values[:count]
        written = _lengths(values) + b"".join(values)
        if len(written) > len(self._bytes):
            self._use_memory(2 * len(written))
        self._bytes[: len(written)] = written
        taken = int(self._wiring.called(self._wiring.who, lambda: outlet.offerAll(count)))
        self._crossings += 1
        if taken:
            offsets = self._places[:taken].copy()
            self._ends[self._options.topics[topic], partition] = offsets.item(-1) + 1
            self._acks.add(batch.first_sequence, partition, offsets)
            # The next batch goes to the next one, once this one has been taken whole.
            self._turn += taken == len(batch)
        return taken

    def close(self) -> None:
        no_longer_open(self)
        for outlet in self._outlets.values():
            outlet.close()
        self._outlets = {}


class AeronConsumer(_Wired, Consumer):
    def __init__(self, wiring: Wiring, options: ConsumerOptions, idle: str) -> None:
        self._wiring = wiring
        self._places = list(options.partitions)
        inlets = [wiring.inlet(options.topics[topic], partition) for topic, partition in self._places]
        array = java_class("Inlet")[len(inlets)]
        for number, inlet in enumerate(inlets):
            array[number] = inlet
        self._receiver = java_class("BatchReceiver")(array, java_class("Idling")(idle), _ROWS, _BATCH_BYTES)
        self._memory, java_memory = shared_memory(_MEMORY_BYTES)
        self._receiver.setMemory(java_memory)
        self._bytes, self._offsets = self._memory.data, self._memory[: 8 * _ROWS].view(np.int64)
        topics, partitions = zip(*self._places, strict=True) if self._places else ((), ())
        self._topics, self._partitions = np.array(topics, np.int32), np.array(partitions, np.int32)
        opened(self)

    def wait_ready(self, deadline_s: float) -> None:
        """Subscribed: publishers that come now find it, and wait until they have."""

    def poll(self, timeout_s: float) -> Received | None:
        wait_ns = int(timeout_s * 1e9)
        count = int(self._wiring.called(self._wiring.who, lambda: self._receiver.poll(wait_ns)))
        self._crossings += 1
        if not count:
            return None
        if count <= FEW:
            return self._few(count)
        offsets = self._offsets[:count].copy()
        ints = self._memory[8 * _ROWS : _ROW_BYTES * _ROWS].view(np.int32).reshape(2, _ROWS)
        sizes, numbers = ints[0, :count].astype(np.int64), ints[1, :count]
        data = self._memory[_ROW_BYTES * _ROWS : _ROW_BYTES * _ROWS + int(sizes.sum())]
        return Received(
            values=Packed(data.tobytes(), sizes),
            carried=None,
            topics=self._topics[numbers],
            partitions=self._partitions[numbers],
            offsets=offsets,
            timestamps_ms=np.zeros(count, np.int64),
            timestamp_kind=BROKER_TIME_NONE,
        )

    def _few(self, count: int) -> Received:
        """The same of a few, with as few arrays."""
        sizes = _FEW_INTS.unpack_from(self._bytes, 8 * _ROWS)
        numbers = _FEW_INTS.unpack_from(self._bytes, (8 + 4) * _ROWS)
        values, begin = [], _ROW_BYTES * _ROWS
        for size in sizes[:count]:
            values.append(self._bytes[begin : begin + size].tobytes())
            begin += size
        same = len(set(numbers[:count])) == 1
        topic, partition = self._places[numbers[0]]
        return Received(
            values=values,
            carried=None,
            topics=topic if same else self._topics[list(numbers[:count])],
            partitions=partition if same else self._partitions[list(numbers[:count])],
            offsets=self._offsets[:count].copy(),
            timestamps_ms=_NO_TIMES[:count],
            timestamp_kind=BROKER_TIME_NONE,
        )

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        raise NotImplementedError("nobody keeps what was sent through Aeron")

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return all(
            int(self._receiver.position(number)) >= ends.get(place, 0)
            for number, place in enumerate(self._places)
        )

    def close(self) -> None:
        no_longer_open(self)
        self._receiver.close()


def _lengths(values: list[bytes]) -> bytes:
    if len(values) == 1:
        return _ONE_INT.pack(len(values[0]))
    return np.fromiter(map(len, values), np.int32, len(values)).tobytes()


def stream_of(topic: str, partition: int) -> int:
    """A stream of its own for each case: one that nobody polls any more would hold its publisher up."""
    return zlib.crc32(f"{topic}/{partition}".encode()) & 0x3FFFFFFF | 1
