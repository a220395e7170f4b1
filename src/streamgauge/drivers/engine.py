"""Engine `jvm`: whole loops below Python, in Java threads of the process that calls them.

With the drivers' own contract the loop is in Python, as in a Python application (engine `python`). Here a
whole loop is one call: what remains is the client library itself. The two are never set against each
other without saying so. A driver that has this engine is a `JvmDriver`; it may have two kinds of loops:

*scheduled*  orders at their due times, each stamped: `order_loops`, the same Java for all drivers. A driver
             gives what they send through (`Outlet`) and receive from (`Inlet`).
*timed*      so many messages as fast as it goes, one figure for all of them. The driver's own, because
             what is timed is its library and nothing between; only where `JvmDriver.timed_loops` says so.

    driver = jvm_driver(open_driver(target, endpoints))     # BadInput when it has no engine `jvm`
    values = driver.load([b"…", …])                         # made and copied outside the measured time
    producer = driver.timed_producer(ProducerOptions(0, (topic,), "ordinal", "all", "none"))
    producer.produce(Work(values, 1, deadline_s=30))        # to warm it: producer id, connection, metadata
    produced = producer.produce(Work(values, n, deadline_s=60, first_ordinal=1))
    consumer = driver.timed_consumer(ConsumerOptions(0, (topic,), "ordinal", (), None, {}))
    consumed = consumer.consume(Work(values, n + 1, deadline_s=60), start={(0, 0): 0}, checked=True)
    ends = driver.end_offsets((topic,), 1)
    trips = consumer.round_trips(producer, Work(values, 100, deadline_s=60), start=ends)
    producer.close(); consumer.close()

In timed loops message i has the key i, an integer (`payload.ordinal`), and the value
`values[i % len(values)]`. Options are those of the contract; `carrier` must be `ordinal`, and consumers are
made without partitions or group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ClientFacts, ConsumerOptions, Driver, ProducerOptions

Values = Any
"""What `JvmDriver.load` gave: values where its Java reaches them."""


class JvmDriver(Driver):
    """A driver whose client is Java's, or has a twin there."""

    timed_loops: ClassVar[bool] = False
    """Are there any? Then the three methods at the end are its own."""

    @abstractmethod
    def start_java(self) -> None:
        """For scheduled loops; once it runs, asking again costs nothing."""

    @abstractmethod
    def outlet(self, options: ProducerOptions, fates: Any) -> Any:
        """Where a loop sends to: partition 0 of the first topic. `fates`: who is told of messages taken."""

    @abstractmethod
    def inlet(self, options: ConsumerOptions) -> Any: ...

    def loop_facts(self, options: ProducerOptions | ConsumerOptions) -> dict[str, Any]:
        """Settings in force of the client that such a loop has; Java runs by then."""
        return {}

    @property
    def alert_ns(self) -> int:
        """How long before a message is due the loop is awake: as long as sleeping is inexact."""
        return 120_000

    @property
    def idle(self) -> str:
        """What a receiving loop does that has found nothing; see Idling.java."""
        return "yield"

    def load(self, values: Sequence[bytes]) -> Values:
        raise self._without_timed_loops()

    def timed_producer(self, options: ProducerOptions) -> TimedProducer:
        raise self._without_timed_loops()

    def timed_consumer(self, options: ConsumerOptions) -> TimedConsumer:
        raise self._without_timed_loops()

    def _without_timed_loops(self) -> BadInput:
        return BadInput(
            f"driver {self.name}: its engine jvm sends on schedule and has no timed loops; "
            "allowed here: engine python"
        )


def has_timed_loops(kind: type[Driver]) -> bool:
    return issubclass(kind, JvmDriver) and kind.timed_loops


def jvm_driver(driver: Driver) -> JvmDriver:
    if not isinstance(driver, JvmDriver):
        raise BadInput(f"driver {driver.name} has no engine jvm; allowed with it: python")
    return driver


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


@dataclass(frozen=True)
class Work:
    """What a timed loop is to send, or to receive."""

    values: Values
    count: int
    deadline_s: float
    first_ordinal: int = 0
    bursts: Bursts | None = None
    """Of a produce loop."""


class TimedProducer(ABC, ClientFacts):
    @abstractmethod
    def produce(self, work: Work) -> Produced:
        """Send messages `first_ordinal` … to the first topic, and flush.

        Past the deadline no more are sent; the flush ends when the library gives up what is left.
        """

    @abstractmethod
    def close(self) -> None: ...


class TimedConsumer(ABC, ClientFacts):
    @abstractmethod
    def consume(self, work: Work, *, start: Mapping[tuple[int, int], int], checked: bool = False) -> Consumed:
        """Assign these (topic, partition) pairs from these offsets, and read until `count` have come.

        `checked`: against the values, whatever their ordinals begin with.
        """

    @abstractmethod
    def round_trips(
        self, producer: TimedProducer, work: Work, *, start: Mapping[tuple[int, int], int]
    ) -> RoundTrips:
        """Send one, wait for it, send the next; nothing is flushed, so a linger counts.

        `start`: where each partition of the topic ends now. The consumer is connected before the first.
        """

    @abstractmethod
    def close(self) -> None: ...
