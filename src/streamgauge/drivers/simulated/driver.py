"""A broker that does not exist: its latency, losses and disorder are set and seeded.

By default it lives in simulated time: waiting costs nothing, and every receipt is stamped with the very
nanosecond that the law gives. Producers write what they send to a folder; consumers read it when all
producers have finished, and receive it in the order in which it would have come. In real time
(`time: real`) it is a ring in memory, to see what everything but a transport costs.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge.core.clock import NS_PER_MS, NS_PER_S, Clock, read_clocks
from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import memory_folder, temporary_folder
from streamgauge.drivers.contract import (
    Acks,
    Capabilities,
    Consumer,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.drivers.engine import JvmDriver
from streamgauge.drivers.fleeting import FLEETING
from streamgauge.drivers.simulated.memory_ring import RingConsumer, RingProducer, make_ring, written
from streamgauge.drivers.simulated.simulation import (
    Integers,
    Laws,
    arrivals_ns,
    connecting_ns,
    departures_ns,
    fates,
    latencies_ns,
    reading_ns,
    served_ns,
    swayed_ns,
)
from streamgauge.payload.header import RECORD_HEADER
from streamgauge.payload.making import Outgoing
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND

_REAL_WAIT_S = 0.005
_OFFSETS_APART = 1024
"""Producers share a partition: each has every 1024th offset, so that none has another's."""


class SimulatedClock(Clock):
    """Time that passes only when somebody waits."""

    def __init__(self, connecting_ns: int = 0) -> None:
        """`connecting_ns`: what passes while its owner is made."""
        self._began_ns = time.monotonic_ns()
        self.at_ns = self._began_ns + connecting_ns

    def now_ns(self) -> int:
        return self.at_ns

    def began_ns(self, before_ns: int) -> int:
        return self._began_ns

    def sleep_until(self, due_ns: int) -> None:
        self.at_ns = max(self.at_ns, due_ns)


class Simulated(JvmDriver):
    name = "simulated"
    capabilities = Capabilities(
        durable=False,
        ordered=True,
        acked=True,
        record_headers=True,
        simulated_time=True,
        placed=True,
        unreported=True,
    )
    settings_model = Laws

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        self._laws = Laws.model_validate(target.settings)
        self._is_real = self._laws.time == "real"
        if self._is_real:
            self.capabilities = FLEETING  # type: ignore[misc] # of this one only
        self._folder = Path(endpoints["folder"]) if "folder" in endpoints else None
        self._partitions: int | None = int(endpoints["partitions"]) if "partitions" in endpoints else None
        self._made: Path | None = None

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {"simulated": self._laws.model_dump(mode="json", by_alias=True)}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        if self._folder is None:
            parent = memory_folder() if self._is_real else temporary_folder()
            self._made = self._folder = Path(tempfile.mkdtemp(prefix="streamgauge-simulated-", dir=parent))
        self._partitions = topics.partitions
        for name in names:
            (self._folder / name).mkdir()
            if self._is_real:
                for partition in range(topics.partitions):
                    make_ring(self._folder / name / str(partition))
        return list(names)

    def remove_topics(self, names: list[str]) -> None:
        for name in names:
            if self._folder is not None:
                shutil.rmtree(self._folder / name, ignore_errors=True)

    def endpoints(self) -> dict[str, str]:
        return {"folder": str(self._folder), "partitions": str(self._partitions)}

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        places = [(t, p) for t in range(len(topics)) for p in range(partitions)]
        if self._is_real:
            assert self._folder is not None
            return {(t, p): written(self._folder / topics[t] / str(p)) for t, p in places}
        return dict.fromkeys(places, 0)

    def producer(self, options: ProducerOptions) -> Producer:
        assert self._folder is not None
        assert self._partitions is not None
        if self._is_real:
            if options.carrier != "value":
                raise BadInput(
                    "driver simulated in real time: messages have values only, of 32 bytes and more"
                )
            return RingProducer(self._folder, self._partitions, options)
        return _Producer(self._laws, self._folder, self._partitions, options)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        assert self._folder is not None
        assert self._partitions is not None
        if self._is_real:
            return RingConsumer(self._folder, options)
        return _Consumer(self._laws, self._folder, self._partitions, options)

    def start_java(self) -> None:
        from streamgauge.drivers.transports_java import start_java

        if not self._is_real:
            raise BadInput("driver simulated: the engine jvm needs real time (settings.time: real)")
        start_java(())

    def outlet(self, options: ProducerOptions, fates: Any) -> Any:
        return self._java_ring("RingOutlet", options.topics[0])

    def inlet(self, options: ConsumerOptions) -> Any:
        return self._java_ring("RingInlet", options.topics[0])

    def _java_ring(self, kind: str, topic: str) -> Any:
        from streamgauge.drivers.transports_java import java_class

        assert self._folder is not None
        return java_class(kind)(str(self._folder / topic / "0"))

    def close(self) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


class _Producer(Producer):
    def __init__(self, laws: Laws, folder: Path, partitions: int, options: ProducerOptions) -> None:
        self.clock = self._clock = SimulatedClock(connecting_ns(laws, options.number))
        self._laws, self._options, self._partitions = laws, options, partitions
        own = range(len(options.topics)) if options.place is None else [options.place[0]]
        self._files = {t: (folder / options.topics[t] / f"{options.number}").open("wb") for t in own}
        self._partition = None if options.place is None else options.place[1]
        self._origin_ns: int | None = None
        self._free_ns = 0.0
        # Acks to come, batch by batch: a long line must not be copied at each send.
        self._waiting: deque[tuple[Integers, Integers]] = deque()
        self._outstanding, self._last_ack_ns = 0, 0

    def send(self, batch: Outgoing, topic: int) -> int:
        count = min(len(batch), self._laws.queue_messages - self._outstanding)
        if count <= 0:
            return 0
        now = self._clock.at_ns
        self._origin_ns = self._origin_ns or now
        sequences = np.arange(batch.first_sequence, batch.first_sequence + count)
        taken = departures_ns(
            self._laws, self._origin_ns, now + self._laws.send_ns * np.arange(count, dtype=np.int64)
        )
        served = served_ns(self._laws, taken, self._free_ns)
        self._free_ns, departed = float(served[-1]), np.rint(served).astype(np.int64)
        carried = self._carried(batch)
        pickle.dump(
            (sequences, departed, batch.values[:count], carried and carried[:count], self._partition),
            self._files[topic],
        )
        latency = latencies_ns(self._laws, self._options.number, batch.first_sequence, count)
        half = swayed_ns(self._laws, latency, departed - self._origin_ns) // 2
        ack_ns = np.maximum.accumulate(np.maximum(departed + half, self._last_ack_ns))
        self._waiting.append((sequences, ack_ns))
        self._outstanding, self._last_ack_ns = self._outstanding + count, int(ack_ns[-1])
        self._clock.sleep_until(now + self._laws.send_ns * count)
        return count

    def _carried(self, batch: Outgoing) -> list[bytes] | None:
        if self._options.carrier in ("key", "ordinal"):
            return batch.keys
        if self._options.carrier == "headers" and batch.headers is not None:
            return [dict(headers)[RECORD_HEADER] for headers in batch.headers]
        return None

    def poll(self, timeout_s: float) -> Acks | None:
        first_ns = int(self._waiting[0][1][0]) if self._waiting else None
        if first_ns is None or first_ns > self._clock.at_ns:
            until = self._clock.at_ns + round(timeout_s * NS_PER_S)
            self._clock.sleep_until(until if first_ns is None else min(first_ns, until))
        sequences = self._acked()
        if not len(sequences):
            return None
        self._outstanding -= len(sequences)
        if not self._options.completions:
            return None
        return Acks(sequences, *_places(sequences, self._options.number, self._partitions, self._partition))

    def _acked(self) -> Integers:
        """Sequences whose acks have come by now; they are no longer waited for."""
        found = [np.zeros(0, np.int64)]
        while self._waiting:
            sequences, ack_ns = self._waiting[0]
            told = int(np.searchsorted(ack_ns, self._clock.at_ns, side="right"))
            found.append(sequences[:told])
            if told < len(sequences):
                self._waiting[0] = (sequences[told:], ack_ns[told:])
                break
            self._waiting.popleft()
        return np.concatenate(found)

    def outstanding(self) -> int:
        return self._outstanding

    def flush_soon(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        for file in self._files.values():
            file.close()


class _Consumer(Consumer):
    def __init__(self, laws: Laws, folder: Path, partitions: int, options: ConsumerOptions) -> None:
        self.clock = self._clock = SimulatedClock(connecting_ns(laws, options.number))
        self._laws, self._folder, self._partitions, self._options = laws, folder, partitions, options
        self._wall_offset_ns = read_clocks().wall_offset_ns
        self._start = {place: options.start.get(place, 0) for place in options.partitions}
        self._coming: Iterator[tuple[int, Received]] | None = None
        self._exhausted = False

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        """What has been written until now comes, and nothing that is written later."""
        self._start, self._exhausted = dict(start), False
        self._coming = self._deliveries()

    def wait_ready(self, deadline_s: float) -> None:
        """Whatever is written will be received."""

    def poll(self, timeout_s: float) -> Received | None:
        if self._coming is None:
            # Until all producers have finished, the order of what comes is not known.
            time.sleep(_REAL_WAIT_S)
            return None
        at_ns, received = next(self._coming, (0, None))
        if received is None:
            self._exhausted = True
            return None
        # Not "sleep until": nothing has happened to this consumer before its first record.
        self._clock.at_ns = at_ns
        return received

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._coming is None:
            self._coming = self._deliveries()
        return self._exhausted

    def _deliveries(self) -> Iterator[tuple[int, Received]]:
        """Every record that this consumer gets, in the order of arrival, with its time."""
        assigned_ns = self._clock.at_ns
        own = {topic for topic, _ in self._start}
        records = [
            record
            for topic, name in enumerate(self._options.topics)
            if topic in own
            for file in sorted((self._folder / name).iterdir())
            for record in self._records_of(topic, int(file.name), file)
        ]
        records.sort(key=lambda record: record[:2])
        if self._laws.read_ns:
            # They are stored already: what counts is how fast they are read.
            times = assigned_ns + reading_ns(self._laws, self._options.number, len(records))
            yield from zip(times.tolist(), (received for _, _, received in records), strict=True)
            return
        for at_ns, _, received in records:
            yield at_ns, received

    def _records_of(self, topic: int, producer: int, file: Path) -> Iterator[tuple[int, int, Received]]:
        # Messages that only warm a producer have numbers below 0, and are nobody's to read.
        batches = [batch for batch in _unpickled(file) if batch[0][0] >= 0]
        if not batches:
            return
        sequences = np.concatenate([batch[0] for batch in batches])
        departed = np.concatenate([batch[1] for batch in batches])
        values = [value for batch in batches for value in batch[2]]
        carried = [head for batch in batches for head in batch[3]] if batches[0][3] is not None else None
        only_partition = batches[0][4]
        spread = self._partitions if only_partition is None else 1
        # Laws speak of all of a producer's messages, of which this topic may have only some.
        count = int(sequences[-1]) + 1
        fate = fates(self._laws, producer, count, spread)
        latency = latencies_ns(self._laws, producer, 0, count)
        whole = np.zeros(count, np.int64)
        whole[sequences] = departed
        latency = swayed_ns(self._laws, latency, whole - departed[0])
        arrivals = arrivals_ns(whole, latency, fate, spread)
        partitions, offsets = _places(sequences, producer, self._partitions, only_partition)
        for row, sequence in enumerate(sequences):
            start = self._start.get((topic, int(partitions[row])))
            if fate.lost[sequence] or start is None or offsets[row] < start:
                continue
            value = _damaged(values[row], int(sequence)) if fate.corrupted[sequence] else values[row]
            append_ms = (int(departed[row] + latency[sequence] // 2) + self._wall_offset_ns) // NS_PER_MS
            received = Received(
                values=[value],
                carried=None if carried is None else [carried[row]],
                topics=topic,
                partitions=int(partitions[row]),
                offsets=offsets[row : row + 1],
                timestamps_ms=np.array([append_ms]),
                timestamp_kind=BROKER_TIME_APPEND,
            )
            at_ns = int(arrivals[sequence])
            yield at_ns, int(sequence), received
            if fate.duplicated[sequence]:
                yield at_ns, int(sequence), received

    def close(self) -> None:
        self._coming = None


def _places(sequences: Any, producer: int, partitions: int, only_partition: int | None) -> tuple[Any, Any]:
    """A producer goes round the partitions, or has one; where its messages lie follows from their count."""
    if only_partition is not None:
        return np.full(len(sequences), only_partition, np.int32), sequences * _OFFSETS_APART + producer
    return (
        (sequences % partitions).astype(np.int32),
        sequences // partitions * _OFFSETS_APART + producer,
    )


def _damaged(value: bytes, sequence: int) -> bytes:
    """One bit flipped, somewhere."""
    if not value:
        return b"\1"
    place = sequence * 7919 % len(value)
    return value[:place] + bytes([value[place] ^ 1 << sequence % 8]) + value[place + 1 :]


def _unpickled(file: Path) -> Iterator[Any]:
    with file.open("rb") as stream:
        while stream.peek(1):
            yield pickle.load(stream)
