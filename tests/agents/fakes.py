"""A world for agents in which time passes only when somebody waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamgauge.agents.rendezvous import Ends, Levels, Start
from streamgauge.core.clock import NS_PER_MS, NS_PER_S, Clock, ClockReading
from streamgauge.drivers.contract import (
    Acks,
    Capabilities,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.payload.making import Outgoing
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND

START_NS = 1_000 * NS_PER_S
START = Start(at_ns=START_NS, reference_offset_ns=11, reference_error_ns=12)
ALWAYS, NEVER = (lambda: True), (lambda: False)


class FakeClock(Clock):
    def __init__(self, at_ns: int = START_NS - NS_PER_S) -> None:
        self.at_ns = at_ns

    def now_ns(self) -> int:
        return self.at_ns

    def sleep_until(self, due_ns: int) -> None:
        self.at_ns = max(self.at_ns, due_ns)


class FakeProducer(Producer):
    """Acknowledges each message some time after it was sent; can be full, fail and fall silent."""

    def __init__(
        self,
        clock: FakeClock,
        *,
        room: Callable[[int], int] = lambda now_ns: 1_000_000,
        ack_after_ns: int | None = NS_PER_MS,
        errors: Mapping[int, str] | None = None,
        send_ns: int = 100,
    ) -> None:
        """`room`: messages taken at that time. `ack_after_ns` None: no acks ever come."""
        self.clock: FakeClock = clock
        self.sent: list[tuple[int, int]] = []
        """(sequence, topic)"""
        self.sizes: list[int] = []
        self.closed = self.flushed = False
        self._room, self._ack_after_ns, self._errors, self._send_ns = (
            room,
            ack_after_ns,
            errors or {},
            send_ns,
        )
        self._due: list[tuple[int, int]] = []

    def send(self, batch: Outgoing, topic: int) -> int:
        taken = min(len(batch), self._room(self.clock.at_ns))
        for sequence in range(batch.first_sequence, batch.first_sequence + taken):
            self.sent.append((sequence, topic))
            self._due.append((self.clock.at_ns + (self._ack_after_ns or 0), sequence))
        self.sizes += map(len, batch.values[:taken])
        self.clock.at_ns += self._send_ns
        return taken

    def poll(self, timeout_s: float) -> Acks | None:
        until_ns = self.clock.at_ns + round(timeout_s * NS_PER_S)
        if self._ack_after_ns is None or not self._due:
            self.clock.sleep_until(until_ns)
            return None
        self.clock.sleep_until(min(self._due[0][0], until_ns))
        told = [sequence for due_ns, sequence in self._due if due_ns <= self.clock.at_ns]
        if not told:
            return None
        del self._due[: len(told)]  # a second thread may be adding to it
        errors = {sequence: self._errors[sequence] for sequence in told if sequence in self._errors}
        return Acks(np.array(told), 0, np.array(told), errors)

    def outstanding(self) -> int:
        return len(self._due)

    def flush_soon(self) -> None:
        self.flushed = True

    def settings_in_force(self) -> dict[str, Any]:
        return {"sasl.password": "hunter2", "linger.ms": 5, "error_cb": print}

    def close(self) -> None:
        self.closed = True


class FakeConsumer(Consumer):
    """Has what it is given, at its time; `endless`: another record whenever it is asked."""

    def __init__(
        self, clock: FakeClock, coming: list[tuple[int, list[bytes]]], *, endless: bytes | None = None
    ) -> None:
        self.clock: FakeClock = clock
        self.read, self.closed = 0, False
        self._coming, self._endless = list(coming), endless

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        raise AssertionError("an agent reads what its options say")

    def wait_ready(self, deadline_s: float) -> None:
        pass

    def poll(self, timeout_s: float) -> Received | None:
        until_ns = self.clock.at_ns + round(timeout_s * NS_PER_S)
        values: list[bytes]
        if self._coming and self._coming[0][0] <= until_ns:
            at_ns, values = self._coming.pop(0)
            self.clock.sleep_until(at_ns)
        elif self._endless is not None:
            self.clock.sleep_until(until_ns)
            values = [self._endless]
        else:
            self.clock.sleep_until(until_ns)
            return None
        first, self.read = self.read, self.read + len(values)
        offsets = np.arange(first, self.read)
        return Received(values, None, 0, 0, offsets, offsets + 5000, BROKER_TIME_APPEND)

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return self.read >= max(ends.values(), default=0)

    def close(self) -> None:
        self.closed = True


class NoSettings(SpecModel):
    pass


class FakeDriver(Driver):
    name = "fake"
    capabilities = Capabilities(
        durable=False, ordered=True, acked=True, record_headers=True, simulated_time=True
    )
    settings_model = NoSettings

    def __init__(
        self, client: FakeProducer | FakeConsumer | None = None, ends: Callable[[], int] = lambda: 0
    ) -> None:
        self._client, self._ends = client, ends
        self.options: list[ProducerOptions | ConsumerOptions] = []
        self.closed = False

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        return []

    def remove_topics(self, names: list[str]) -> None:
        pass

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return {(0, 0): self._ends()}

    def producer(self, options: ProducerOptions) -> Producer:
        self.options.append(options)
        assert isinstance(self._client, Producer)
        return self._client

    def consumer(self, options: ConsumerOptions) -> Consumer:
        self.options.append(options)
        assert isinstance(self._client, Consumer)
        return self._client

    def close(self) -> None:
        self.closed = True


class RealTimeDriver(FakeDriver):
    """Says that its time is real, whatever its clients' clocks are."""

    capabilities = Capabilities(durable=False, ordered=True, acked=True, record_headers=True)


@dataclass
class FakeRendezvous:
    """Everybody is always ready."""

    producers_finished: Callable[[], bool] = ALWAYS
    acked_ends: Callable[[], Ends] = dict
    stopping: Callable[[], bool] = NEVER
    said: list[str] = field(default_factory=list)
    start: Start = START
    ends: dict[tuple[int, int], int] = field(default_factory=dict)
    measured_slot: Callable[[], int | None] = lambda: None
    levels: Levels = field(default_factory=list)

    def tell_levels(self, levels: Levels) -> None:
        self.levels = list(levels)

    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        self.said.append("ready")
        return self.start

    def finished(self, ends: Ends) -> None:
        self.said.append("finished")
        self.ends = dict(ends)


FAKE_TARGET = Target(name="fake", driver="fake", client={"sasl.password": "${SG_PASSWORD}"})


class StreamDriver(FakeDriver):
    """A client of its own for each number."""

    def __init__(self, clients: Mapping[int, FakeProducer | FakeConsumer], ends: Any = None) -> None:
        super().__init__()
        self._clients, self._stream_ends = clients, ends or {}

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return dict(self._stream_ends)

    def producer(self, options: ProducerOptions) -> Producer:
        self.options.append(options)
        client = self._clients[options.number]
        assert isinstance(client, Producer)
        return client

    def consumer(self, options: ConsumerOptions) -> Consumer:
        self.options.append(options)
        client = self._clients[options.number]
        assert isinstance(client, Consumer)
        return client


class RealTimeStreamDriver(StreamDriver):
    """Whose clients share one time, so that they take turns."""

    capabilities = RealTimeDriver.capabilities
