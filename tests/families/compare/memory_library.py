"""A client library in memory, with a clock of its own: what each thing takes is known to the nanosecond."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Capabilities,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
    SharedSetting,
)
from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ordinals
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from tests.agents.fakes import FakeClock, NoSettings

CONNECT_NS, SEND_NS, ACK_NS, FETCH_NS = 1_000_000, 1000, 50_000, 30_000


@dataclass
class World:
    """One topic after another in one log; faults that are to happen."""

    clock: FakeClock = field(default_factory=FakeClock)
    log: list[tuple[bytes, bytes]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    damaged: set[int] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)
    offsets_known: bool = True
    taken_at_once: int = 10_000
    said: list[str] = field(default_factory=list)
    crossings: int = 0
    slowness: Callable[[int], float] = lambda sent: 1.0
    """How many times as long as usual sending takes, after so many messages."""


class _Clock(FakeClock):
    """The world's time; a client was begun before it was connected."""

    def __init__(self, world: FakeClock) -> None:
        self._world = world
        self._made_ns = world.now_ns()
        world.at_ns += CONNECT_NS

    def now_ns(self) -> int:
        return self._world.now_ns()

    def sleep_until(self, due_ns: int) -> None:
        self._world.sleep_until(due_ns)

    def began_ns(self, before_ns: int) -> int:
        return self._made_ns


class MemoryProducer(Producer):
    def __init__(self, world: World) -> None:
        self._world, self.clock = world, _Clock(world.clock)
        self._untold: list[tuple[int, int]] = []
        self._errors: dict[int, str] = {}

    def send(self, batch: Outgoing, topic: int) -> int:
        world = self._world
        count = min(len(batch), world.taken_at_once)
        assert batch.keys is not None
        for value, key in list(zip(batch.values, batch.keys, strict=True))[:count]:
            number = int(ordinals([key])[0])
            if number in world.refused:
                self._errors[number] = world.refused[number]
                self._untold.append((number, UNKNOWN))
                continue
            self._untold.append((number, len(world.log) if world.offsets_known else UNKNOWN))
            if number not in world.lost:
                world.log.append((key, b"?" * len(value) if number in world.damaged else value))
        world.clock.at_ns += round(SEND_NS * count * world.slowness(world.crossings))
        world.crossings += count
        return count

    def poll(self, timeout_s: float) -> Acks | None:
        if not self._untold:
            self.clock.sleep_until(self.clock.now_ns() + round(timeout_s * 1e9))
            return None
        self._world.clock.at_ns += ACK_NS
        told, self._untold = np.array(self._untold, np.int64), []
        errors, self._errors = self._errors, {}
        return Acks(told[:, 0], 0, told[:, 1], errors)

    def outstanding(self) -> int:
        return len(self._untold)

    def flush_soon(self) -> None:
        self._world.said.append("flush")

    def counters(self) -> dict[str, int]:
        return {"crossings": self._world.crossings}

    def close(self) -> None:
        self._world.said.append("producer closed")


class MemoryConsumer(Consumer):
    def __init__(self, world: World) -> None:
        self._world, self.clock = world, _Clock(world.clock)
        self._at: int | None = None

    def wait_ready(self, deadline_s: float) -> None:
        self._world.said.append(f"ready at {self._at}")

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._at = start.get((0, 0))
        self._world.said.append(f"assign {dict(start)}")

    def poll(self, timeout_s: float) -> Received | None:
        records = [] if self._at is None else self._world.log[self._at :][: self._world.taken_at_once]
        if not records or self._at is None:
            self.clock.sleep_until(self.clock.now_ns() + round(timeout_s * 1e9))
            return None
        self._world.clock.at_ns += FETCH_NS
        offsets = np.arange(self._at, self._at + len(records))
        self._at += len(records)
        return Received(
            values=[value for _, value in records],
            carried=[key for key, _ in records],
            topics=0,
            partitions=0,
            offsets=offsets,
            timestamps_ms=np.zeros(len(records), np.int64),
            timestamp_kind=0,
        )

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return self._at is not None and self._at >= ends[0, 0]

    def shared_settings(self) -> list[SharedSetting]:
        return [SharedSetting("fetch_max_wait_ms", "fetch.max.wait.ms", 7)]

    def settings_in_force(self) -> dict[str, Any]:
        return {"fetch.max.wait.ms": 7, "sasl.password": "hunter2", "own": True}

    def close(self) -> None:
        self._world.said.append("consumer closed")


class MemoryDriver(Driver):
    name = "memory"
    capabilities = Capabilities(durable=False, ordered=True, acked=True, record_headers=False)
    settings_model = NoSettings

    def __init__(self, target: Target | None = None, endpoints: Mapping[str, str] | None = None) -> None:
        self.world = World()

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        return list(names)

    def remove_topics(self, names: list[str]) -> None: ...

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return {(0, 0): len(self.world.log)}

    def producer(self, options: ProducerOptions) -> Producer:
        return MemoryProducer(self.world)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return MemoryConsumer(self.world)
