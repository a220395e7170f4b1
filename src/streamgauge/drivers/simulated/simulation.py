"""The laws of the simulated broker: pure functions of seed, producer and sequence.

Because they are pure, the truth about a simulated run is known without running it: tests compute it
from here and hold the reported figures against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.spec.model import Seconds, SpecModel

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_BLOCK = 4096
_LATENCY_STREAM, _FATE_STREAM, _CONNECT_STREAM, _READ_STREAM = 1, 2, 3, 4


class LatencyLaw(SpecModel):
    """From sending to receipt, for a broker that is not stalled."""

    law: Literal["constant", "lognormal"] = "constant"
    median_ms: float = Field(default=1.0, ge=0)
    sigma: float = Field(default=0.5, ge=0)
    """Of the logarithm; lognormal only."""


class Transient(SpecModel):
    """How the latency is not yet, or never, what its law says: a factor 1 + `times` · shape of the time since
    the producer's first message. By it tests know when a load came to rest."""

    shape: Literal["decay", "step", "spike", "ramp", "oscillation"]
    """decay: e^(−t/for) · step: 1 until `at` · spike: 1 from `at` on, for `for` · ramp: t in seconds, without
    end · oscillation: sin(2π·t/for), without end."""
    times: float = Field(ge=0)
    at: Seconds = 0.0
    for_: Seconds = Field(default=1.0, gt=0, alias="for")

    @model_validator(mode="after")
    def _stays_positive(self) -> Transient:
        if self.shape == "oscillation" and self.times >= 1:
            raise ValueError(f"times: an oscillation of {self.times:g} times the level would go below 0")
        return self

    def factors(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1 + self.times * self._shape(seconds), np.float64)

    def _shape(self, seconds: NDArray[np.float64]) -> NDArray[Any]:
        match self.shape:
            case "decay":
                return np.exp(-seconds / self.for_)
            case "step":
                return seconds < self.at
            case "spike":
                return (seconds >= self.at) & (seconds < self.at + self.for_)
            case "ramp":
                return seconds
            case "oscillation":
                return np.sin(2 * np.pi * seconds / self.for_)


class Stall(SpecModel):
    """A time in which the broker does nothing; seconds since the producer's first message."""

    at: Seconds
    for_: Seconds = Field(alias="for")


class Laws(SpecModel):
    """Everything that the simulated broker does."""

    time: Literal["simulated", "real"] = "simulated"
    """real: time passes, and messages take only as long as copying them does; no other law holds. What is
    measured then is everything but a transport."""
    seed: int = 0
    latency: LatencyLaw = LatencyLaw()
    transients: tuple[Transient, ...] = ()
    stalls: tuple[Stall, ...] = ()
    capacity_per_s: float | None = Field(default=None, gt=0)
    """How many messages of one producer are served a second, one after another; the rest wait in line."""
    loss: float = Field(default=0.0, ge=0, le=1)
    duplication: float = Field(default=0.0, ge=0, le=1)
    reordering: float = Field(default=0.0, ge=0, le=1)
    corruption: float = Field(default=0.0, ge=0, le=1)
    queue_messages: int = Field(default=100_000, ge=1)
    """How many unacknowledged messages the client takes before it refuses more."""
    send_ns: int = Field(default=1000, ge=1)
    """What handing over one message costs, which bounds an unlimited rate."""
    connect_ms: float = Field(default=0.0, ge=0)
    """Median of what it takes to make a client; it varies as the latency does."""
    read_ns: int = Field(default=0, ge=0)
    """What reading a stored record costs, after one latency for the first; 0: they come when they arrive."""

    @model_validator(mode="after")
    def _no_other_law(self) -> Laws:
        others = sorted(self.model_fields_set - {"time"})
        if self.time == "real" and others:
            raise ValueError(f"time: in real time there is no law for {', '.join(others)}; leave it out")
        return self

    @model_validator(mode="after")
    def _one_fate_each(self) -> Laws:
        total = self.loss + self.duplication + self.reordering + self.corruption
        if total > 1:
            raise ValueError(f"loss, duplication, reordering and corruption add up to {total:g}, above 1")
        return self


@dataclass(frozen=True)
class Fates:
    """What befalls each message: one thing at the most."""

    lost: Bools
    duplicated: Bools
    reordered: Bools
    corrupted: Bools


def latencies_ns(laws: Laws, producer: int, first: int, count: int) -> Integers:
    """Latency of the producer's messages `first` …, by the law alone."""
    return _varied(laws, laws.latency.median_ms, _LATENCY_STREAM, producer, first, count)


def swayed_ns(laws: Laws, latency_ns: Integers, since_ns: Integers) -> Integers:
    """Latencies of messages sent so long after the producer's first one, with what is not at rest."""
    if not laws.transients:
        return latency_ns
    seconds = since_ns / NS_PER_S
    factors = np.prod([transient.factors(seconds) for transient in laws.transients], axis=0)
    swayed: Integers = np.rint(latency_ns * factors).astype(np.int64)
    return swayed


def connecting_ns(laws: Laws, client: int) -> int:
    """How long it takes to make that client."""
    return int(_varied(laws, laws.connect_ms, _CONNECT_STREAM, client, 0, 1)[0])


def reading_ns(laws: Laws, consumer: int, count: int) -> Integers:
    """When a consumer has each of `count` stored records, since it was told to read them."""
    first = _varied(laws, laws.latency.median_ms, _READ_STREAM, consumer, 0, 1)
    return first + laws.read_ns * np.arange(1, count + 1)


def fates(laws: Laws, producer: int, count: int, partitions: int) -> Fates:
    """Fates of all `count` messages of a producer, which goes round the partitions."""
    drawn = _draw(laws.seed, _FATE_STREAM, producer, 0, count, normal=False)
    bounds = np.cumsum([laws.loss, laws.duplication, laws.corruption, laws.reordering])
    fate = np.searchsorted(bounds, drawn, side="right")
    # A message is overtaken by its successor, to which nothing else must happen.
    untouched = np.zeros(count, bool)
    untouched[: max(0, count - partitions)] = fate[partitions:] == 4
    return Fates(lost=fate == 0, duplicated=fate == 1, corrupted=fate == 2, reordered=(fate == 3) & untouched)


def departures_ns(laws: Laws, origin_ns: int, sent_ns: Integers) -> Integers:
    """When the broker takes each message: at once, or when a stall is over."""
    departures = sent_ns.copy()
    for stall in sorted(laws.stalls, key=lambda stall: stall.at):
        begin = origin_ns + round(stall.at * NS_PER_S)
        end = begin + round(stall.for_ * NS_PER_S)
        departures[(departures >= begin) & (departures < end)] = end
    return departures


def served_ns(laws: Laws, taken_ns: Integers, free_ns: float) -> NDArray[np.float64]:
    """When each message has been served: a single server, a queue without end; `free_ns`: free again."""
    if laws.capacity_per_s is None:
        return taken_ns.astype(np.float64)
    service_ns = NS_PER_S / laws.capacity_per_s
    before_ns = np.arange(len(taken_ns)) * service_ns
    begun_ns: NDArray[np.float64] = np.maximum.accumulate(np.maximum(taken_ns, free_ns) - before_ns)
    return begun_ns + before_ns + service_ns


def arrivals_ns(departed_ns: Integers, latency_ns: Integers, fate: Fates, partitions: int) -> Integers:
    """When consumers get each message: in order within a partition, but for those that are overtaken."""
    arrivals = departed_ns + latency_ns
    for partition in range(partitions):
        mine = slice(partition, None, partitions)
        arrivals[mine] = np.maximum.accumulate(arrivals[mine])
    overtaken = np.flatnonzero(fate.reordered)
    arrivals[overtaken] = arrivals[overtaken + partitions] + 1
    return arrivals


def _varied(laws: Laws, median_ms: float, stream: int, who: int, first: int, count: int) -> Integers:
    """Times about this median, by the law of the latency."""
    median_ns = median_ms * NS_PER_MS
    if laws.latency.law == "constant":
        return np.full(count, round(median_ns), np.int64)
    deviates = _draw(laws.seed, stream, who, first, count, normal=True)
    return np.rint(median_ns * np.exp(laws.latency.sigma * deviates)).astype(np.int64)


def _draw(
    seed: int, stream: int, producer: int, first: int, count: int, *, normal: bool
) -> NDArray[np.float64]:
    """Random numbers that depend on their place only, so that any part of a run can be drawn again."""
    if count == 0:
        return np.zeros(0)
    blocks = []
    for block in range(first // _BLOCK, (first + count - 1) // _BLOCK + 1):
        # Messages sent to warm a client have numbers below 0; a generator takes none.
        blocks.append(_drawn(seed, stream, producer, block % 2**32, normal))
    skip = first % _BLOCK
    return np.concatenate(blocks)[skip : skip + count]


@lru_cache(maxsize=16)  # messages are mostly sent in order, a few at a time
def _drawn(seed: int, stream: int, producer: int, block: int, normal: bool) -> NDArray[np.float64]:
    rng = np.random.default_rng((seed, stream, producer, block))
    return rng.standard_normal(_BLOCK) if normal else rng.random(_BLOCK)
