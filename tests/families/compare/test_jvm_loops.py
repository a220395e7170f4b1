"""The engine's own loops are tested where they are; here, what is made of their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions, SharedSetting
from streamgauge.drivers.engine import (
    Bursts,
    Consumed,
    JvmDriver,
    Produced,
    RoundTrips,
    TimedConsumer,
    TimedProducer,
    Values,
    Work,
)
from streamgauge.families.compare.jvm_loops import JvmLoops
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.section import Comparison
from streamgauge.families.compare.timing import Place

from .memory_library import MemoryDriver

MESSAGES = OrdinalMessages(10, 50, seed=1)
LOOP_NS, PAUSED_NS = 10**15, 7
"""Longer than anything real here takes, so that what is added to it shows."""


class FakeJvmDriver(MemoryDriver, JvmDriver):
    timed_loops = True

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Any] = []
        self.acked, self.received, self.wrong, self.repeated, self.missing = 50, 50, 0, 0, 0
        self.loaded = 0

    def start_java(self) -> None:
        raise AssertionError("timed loops only")

    outlet = inlet = start_java  # type: ignore[assignment]

    def load(self, values: Sequence[bytes]) -> Values:
        self.loaded += 1
        return values

    def timed_producer(self, options: ProducerOptions) -> TimedProducer:
        assert options.carrier == "ordinal"
        return FakeProduce(self)

    def timed_consumer(self, options: ConsumerOptions) -> TimedConsumer:
        assert options.partitions == ()
        return FakeConsume(self)


class FakeProduce(TimedProducer):
    def __init__(self, driver: FakeJvmDriver) -> None:
        self._driver, self._calls = driver, 0

    def produce(self, work: Work) -> Produced:
        self._calls += 2
        self._driver.said.append(("produce", work.count, work.first_ordinal, work.bursts))
        return Produced(LOOP_NS, PAUSED_NS, self._driver.acked, 50 - self._driver.acked, "refused")

    def counters(self) -> dict[str, int]:
        return {"crossings": self._calls}

    def close(self) -> None:
        self._driver.said.append("producer closed")


class FakeConsume(TimedConsumer):
    def __init__(self, driver: FakeJvmDriver) -> None:
        self._driver = driver

    def consume(self, work: Work, *, start: Mapping[tuple[int, int], int], checked: bool = False) -> Consumed:
        driver = self._driver
        driver.said.append(("consume", dict(start), work.count, checked))
        return Consumed(LOOP_NS, driver.received, driver.wrong, driver.repeated)

    def round_trips(
        self, producer: TimedProducer, work: Work, *, start: Mapping[tuple[int, int], int]
    ) -> RoundTrips:
        self._driver.said.append(("trips", work.count, dict(start), work.first_ordinal))
        return RoundTrips(np.full(work.count - self._driver.missing, 3), self._driver.missing)

    def shared_settings(self) -> list[SharedSetting]:
        return [SharedSetting("fetch_max_wait_ms", "x", 1)]

    def close(self) -> None:
        self._driver.said.append("consumer closed")


class Bench:
    def __init__(self, **comparison: Any) -> None:
        self.driver = FakeJvmDriver()
        self.loops = JvmLoops(self.driver, Comparison.model_validate(comparison))
        self.place = Place("t", 1, {(0, 0): 0})


def test_a_warm_loop_is_timed_in_the_jvm_without_pauses() -> None:
    bench = Bench(bursts={"length": 5, "interval": "20ms"})
    bench.driver.world.log = [(b"", b"")] * 9
    outcome = bench.loops.produce(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == LOOP_NS - PAUSED_NS
    assert (outcome.seen, outcome.error) == (50, None)
    assert bench.driver.said == [
        ("produce", 1, 50, None),
        ("produce", 50, 0, Bursts(5, 20.0)),
        "producer closed",
    ]
    assert bench.place.start == {(0, 0): 9}
    assert outcome.counters == {"crossings": 2}


def test_a_cold_loop_has_the_making_of_the_client_added() -> None:
    bench = Bench()
    produced = bench.loops.produce(bench.place, MESSAGES, warm=False)
    consumed = bench.loops.consume(bench.place, MESSAGES, warm=False)
    assert LOOP_NS - PAUSED_NS < produced.elapsed_ns < LOOP_NS + 60 * 10**9
    assert LOOP_NS < consumed.elapsed_ns < LOOP_NS + 60 * 10**9
    assert bench.driver.loaded == 1


def test_a_warm_consumer_has_read_before() -> None:
    bench = Bench(check_on_consume=True)
    bench.place.start = {(0, 0): 4}
    outcome = bench.loops.consume(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == LOOP_NS
    assert bench.driver.said[:2] == [
        ("consume", {(0, 0): 4}, 1, False),
        ("consume", {(0, 0): 4}, 50, True),
    ]
    assert outcome.corrupt == 0


@pytest.mark.parametrize(
    ("fields", "seen", "error"),
    [
        ({"received": 48}, 48, "2 of 50 messages did not come"),
        ({"repeated": 3}, 47, "3 of 50 messages did not come"),
        ({"wrong": 1}, 50, "1 records are not what was sent"),
    ],
)
def test_what_did_not_come_well_is_said(fields: dict[str, int], seen: int, error: str) -> None:
    bench = Bench(check_on_consume=True)
    for name, value in fields.items():
        setattr(bench.driver, name, value)
    outcome = bench.loops.consume(bench.place, MESSAGES, warm=False)
    assert (outcome.seen, outcome.error) == (seen, error)


def test_what_was_not_acked_is_said() -> None:
    bench = Bench()
    bench.driver.acked = 47
    outcome = bench.loops.produce(bench.place, MESSAGES, warm=False)
    assert outcome.error == "3 of 50 messages were not acked: refused"


def test_round_trips_add_up() -> None:
    bench = Bench(round_trip=True)
    bench.driver.world.log = [(b"", b"")]
    outcome = bench.loops.round_trip(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == 150
    assert bench.driver.said[:2] == [("trips", 1, {(0, 0): 0}, 50), ("trips", 50, {(0, 0): 1}, 0)]
    bench.driver.missing = 4
    assert bench.loops.round_trip(bench.place, MESSAGES, warm=False).error == "4 of 50 messages did not come"


def test_a_driver_without_the_engine_is_refused() -> None:
    with pytest.raises(BadInput, match="driver memory has no engine jvm"):
        JvmLoops(MemoryDriver(), Comparison())
