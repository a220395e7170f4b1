"""A ring in memory between two processes: a transport that only copies.

A file for each partition, mapped by both sides: how many bytes were written (at 0) and read (at 128), each by
one side only, and from 256 on the bytes. A message is its length (4 bytes) and its value. Offsets are
those of its last byte. `jvm/transports/Ring.java` is the same in Java.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions, Received
from streamgauge.drivers.fleeting import FleetingConsumer
from streamgauge.drivers.instant_acks import InstantProducer
from streamgauge.payload.making import Outgoing
from streamgauge.tables.events import BROKER_TIME_NONE

_DATA = 256
_RING_BYTES = 1 << 22
_LENGTH = struct.Struct("<i")


def make_ring(file: Path) -> None:
    file.write_bytes(bytes(_DATA + _RING_BYTES))


def written(file: Path) -> int:
    """How many bytes have gone into a ring."""
    with file.open("rb") as ring:
        return int.from_bytes(ring.read(8), "little")


class _Ring:
    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), 0)
        # 8 bytes at a place that 8 divides are read and written as one.
        counters: NDArray[Any] = np.frombuffer(self._memory, "<u8", _DATA // 8)
        self._written, self._read = counters[0:1], counters[16:17]
        self.bytes = len(self._memory) - _DATA

    @property
    def waiting(self) -> int:
        return int(self._written[0]) - int(self._read[0])

    def put(self, content: bytes) -> int:
        """There must be room; where it ends."""
        at = int(self._written[0])
        begin = at % self.bytes
        first = content[: self.bytes - begin]
        self._memory[_DATA + begin : _DATA + begin + len(first)] = first
        if rest := content[len(first) :]:
            self._memory[_DATA : _DATA + len(rest)] = rest
        self._written[0] = at + len(content)
        return at + len(content)

    def take(self) -> tuple[int, bytes]:
        """All that there is, and where it begins."""
        at, count = int(self._read[0]), self.waiting
        begin = at % self.bytes
        first = self._memory[_DATA + begin : _DATA + min(begin + count, self.bytes)]
        content = first + self._memory[_DATA : _DATA + count - len(first)]
        self._read[0] = at + count
        return at, content


class RingProducer(InstantProducer):
    def __init__(self, folder: Path, partitions: int, options: ProducerOptions) -> None:
        self._rings = [[_Ring(folder / name / str(p)) for p in range(partitions)] for name in options.topics]
        super().__init__()
        self._turn = 0

    def send(self, batch: Outgoing, topic: int) -> int:
        rings = self._rings[topic]
        partition = self._turn % len(rings)
        ring = rings[partition]
        if len(batch) == 1:
            return self._send_one(ring, partition, batch)
        lengths = np.fromiter(map(len, batch.values), np.int64, len(batch))
        ends = np.cumsum(lengths + _LENGTH.size)
        taken = int(np.searchsorted(ends, ring.bytes - ring.waiting, side="right"))
        if not taken:
            return 0
        self._turn += 1
        parts = (_LENGTH.pack(len(value)) + value for value in batch.values[:taken])
        end = ring.put(b"".join(parts))
        offsets = ends[:taken] + (end - int(ends[taken - 1]) - 1)
        self._acks.add(batch.first_sequence, partition, offsets)
        return taken

    def _send_one(self, ring: _Ring, partition: int, batch: Outgoing) -> int:
        [value] = batch.values
        if _LENGTH.size + len(value) > ring.bytes - ring.waiting:
            return 0
        self._turn += 1
        end = ring.put(_LENGTH.pack(len(value)) + value)
        self._acks.add(batch.first_sequence, partition, np.array([end - 1]))
        return 1

    def close(self) -> None:
        self._rings = []


class RingConsumer(FleetingConsumer):
    def __init__(self, folder: Path, options: ConsumerOptions) -> None:
        self._rings = {(t, p): _Ring(folder / options.topics[t] / str(p)) for t, p in options.partitions}
        self._positions = dict.fromkeys(self._rings, 0)

    def wait_ready(self, deadline_s: float) -> None:
        """Whatever is written will be received."""

    def poll(self, timeout_s: float) -> Received | None:
        deadline = time.monotonic() + timeout_s
        while True:
            for place, ring in self._rings.items():
                if ring.waiting:
                    return self._taken(place, ring)
            if time.monotonic() >= deadline:
                return None
            # As Aeron's clients do: look again, but let others have the core.
            os.sched_yield()

    def _taken(self, place: tuple[int, int], ring: _Ring) -> Received:
        at, content = ring.take()
        values, offsets, begin = [], [], 0
        while begin < len(content):
            end = begin + _LENGTH.size + _LENGTH.unpack_from(content, begin)[0]
            values.append(content[begin + _LENGTH.size : end])
            offsets.append(at + end - 1)
            begin = end
        self._positions[place] = at + len(content)
        return Received(
            values=values,
            carried=None,
            topics=place[0],
            partitions=place[1],
            offsets=np.array(offsets, np.int64),
            timestamps_ms=np.zeros(len(values), np.int64),
            timestamp_kind=BROKER_TIME_NONE,
        )

    def close(self) -> None:
        self._rings = {}
