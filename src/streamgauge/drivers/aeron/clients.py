"""Publishing and subscribing for Python: whole batches to and from Java, in memory that both sides see."""

from __future__ import annotations

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
from streamgauge.payload.making import Outgoing
from streamgauge.payload.reading import Packed
from streamgauge.tables.events import BROKER_TIME_NONE

_FIRST_BYTES = 1 << 20
_ROWS = 4096
_BATCH_BYTES = 1 << 20
_MEMORY_BYTES = 1 << 25
"""A batch, what one more look may bring, and the largest message that Aeron takes."""
_ROW_BYTES = 16


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
        self._outlets: dict[tuple[int, int], Any] = {}
        self._turn = 0
        self._memory, self._java_memory = shared_memory(_FIRST_BYTES)
        places, self._java_places = shared_memory(8 * _ROWS)
        self._places = places.view(np.int64)
        opened(self)
        for topic in range(len(options.topics)):
            for partition in range(partitions):
                self._outlet(topic, partition)

    def _outlet(self, topic: int, partition: int) -> Any:
        if (topic, partition) not in self._outlets:
            name = self._options.topics[topic]
            self._outlets[topic, partition] = self._wiring.outlet(name, partition)
        return self._outlets[topic, partition]

    def send(self, batch: Outgoing, topic: int) -> int:
        partition = self._turn % self._partitions
        outlet = self._outlet(topic, partition)
        count = min(len(batch), _ROWS)
        joined = b"".join(batch.values[:count])
        needed = 4 * count + len(joined)
        if needed > len(self._memory):
            self._memory, self._java_memory = shared_memory(2 * needed)
        self._memory[: 4 * count].view(np.int32)[:] = np.fromiter(
            map(len, batch.values[:count]), np.int32, count
        )
        self._memory[4 * count : needed] = np.frombuffer(joined, np.uint8)
        taken = int(self._wiring.called(self._wiring.who, lambda: self._offered(outlet, count)))
        self._crossings += 1
        if taken:
            offsets = self._places[:taken].copy()
            self._ends[self._options.topics[topic], partition] = int(offsets[-1]) + 1
            self._acks.add(batch.first_sequence, partition, offsets)
            # The next batch goes to the next one, once this one has been taken whole.
            self._turn += taken == len(batch)
        return taken

    def _offered(self, outlet: Any, count: int) -> Any:
        return outlet.offerAll(self._java_memory, count, self._java_places)

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
        offsets = self._memory[: 8 * count].view(np.int64).copy()
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


def stream_of(topic: str, partition: int) -> int:
    """A stream of its own for each case: one that nobody polls any more would hold its publisher up."""
    return zlib.crc32(f"{topic}/{partition}".encode()) & 0x3FFFFFFF | 1
