"""Engine `jvm`: the produce and consume loops below Python, in the process that calls them.

With the drivers' own contract the loop is in Python, as in a Python application (engine `python`). Here a
whole loop is one call: what remains is the client library itself. The two are never set against each
other without saying so.

    driver = open_driver(target, endpoints)
    engine = engine_of(driver)                      # BadInput when the driver has no engine `jvm`
    values = engine.load([b"…", …])                 # made and copied outside the measured time
    producer = engine.producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
    producer.produce(values, 1, deadline_s=30)      # to warm it: producer id, connection, metadata
    produced = producer.produce(values, n, first_ordinal=1, deadline_s=60)
    consumer = engine.consumer(ConsumerOptions(0, (topic,), "ordinal", (), None, {}))
    consumed = consumer.consume({(0, 0): 0}, n + 1, deadline_s=60, check=values)
    ends = driver.end_offsets((topic,), 1)
    trips = engine.round_trips(producer, consumer, values, 100, start=ends, deadline_s=60)
    producer.close(); consumer.close()

Message i has the key i, an integer (`payload.ordinal`), and the value `values[i % len(values)]`. Options are
those of the contract; `carrier` must be `ordinal`, and consumers are made without partitions or group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ClientFacts, ConsumerOptions, Driver, ProducerOptions


@dataclass(frozen=True)
class Produced:
    """One produce loop."""

    elapsed_ns: int
    """From before the first record is made until flush has returned; pauses between bursts are in it."""
    paused_ns: int
    """Pauses between bursts."""
    acked: int
    failed: int
    first_error: str | None


@dataclass(frozen=True)
class Consumed:
    """One consume loop."""

    elapsed_ns: int
    """From before the assignment until the last of the records that were waited for, or the deadline."""
    received: int
    """Records that came; fewer than expected when the deadline cut it short."""
    wrong: int
    """Records with another value than their ordinal's, or with no ordinal; 0 unless checked."""
    repeated: int
    """Records whose ordinal had come before; 0 unless checked."""


@dataclass(frozen=True)
class RoundTrips:
    """Messages sent one by one, each when the one before was back."""

    trip_ns: NDArray[np.int64]
    """From before a record is made until the consumer has it; fewer than asked for at the deadline."""
    missing: int


@dataclass(frozen=True)
class Bursts:
    """Send so many messages, pause, and so on."""

    length: int
    interval_ms: float


class LoadedValues(ABC):
    """Values where the engine can reach them."""

    @abstractmethod
    def __len__(self) -> int: ...


class EngineClient(ABC, ClientFacts):
    @abstractmethod
    def close(self) -> None: ...


class EngineProducer(EngineClient):
    @abstractmethod
    def produce(
        self,
        values: LoadedValues,
        count: int,
        *,
        deadline_s: float,
        topic: int = 0,
        first_ordinal: int = 0,
        bursts: Bursts | None = None,
    ) -> Produced:
        """Send messages `first_ordinal` … and flush.

        Past the deadline no more are sent; the flush ends when the library gives up what is left.
        """


class EngineConsumer(EngineClient):
    @abstractmethod
    def consume(
        self,
        start: Mapping[tuple[int, int], int],
        expected: int,
        *,
        deadline_s: float,
        check: LoadedValues | None = None,
    ) -> Consumed:
        """Assign these (topic, partition) pairs from these offsets, and read until `expected` have come."""


class Engine(ABC):
    @abstractmethod
    def load(self, values: Sequence[bytes]) -> LoadedValues: ...

    @abstractmethod
    def producer(self, options: ProducerOptions) -> EngineProducer: ...

    @abstractmethod
    def consumer(self, options: ConsumerOptions) -> EngineConsumer: ...

    @abstractmethod
    def round_trips(
        self,
        producer: EngineProducer,
        consumer: EngineConsumer,
        values: LoadedValues,
        count: int,
        *,
        deadline_s: float,
        start: Mapping[tuple[int, int], int],
        topic: int = 0,
        first_ordinal: int = 0,
    ) -> RoundTrips:
        """Send one, wait for it, send the next; nothing is flushed, so a linger counts.

        `start`: where each partition of the topic ends now. The consumer is connected before the first.
        """


class EngineDriver(Driver):
    """A driver that has this engine too."""

    @abstractmethod
    def engine(self) -> Engine: ...


def engine_of(driver: Driver) -> Engine:
    if not isinstance(driver, EngineDriver):
        raise BadInput(f"driver {driver.name} has no engine jvm; allowed with it: python")
    return driver.engine()
