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
    Engine,
    EngineConsumer,
    EngineDriver,
    EngineProducer,
    LoadedValues,
    Produced,
    RoundTrips,
)
from streamgauge.families.compare.jvm_loops import JvmLoops
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.section import Comparison
from streamgauge.families.compare.timing import Place

from .memory_library import MemoryDriver

MESSAGES = OrdinalMessages(10, 50, seed=1)
LOOP_NS, PAUSED_NS = 10**15, 7
"""Longer than anything real here takes, so that what is added to it shows."""


class FakeValues(LoadedValues):
    def __init__(self, values: Sequence[bytes]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)


class FakeEngine(Engine):
    def __init__(self) -> None:
        self.said: list[Any] = []
        self.acked, self.received, self.wrong, self.repeated, self.missing = 50, 50, 0, 0, 0
        self.loaded = 0

    def load(self, values: Sequence[bytes]) -> LoadedValues:
        self.loaded += 1
        return FakeValues(values)

    def producer(self, options: ProducerOptions) -> EngineProducer:
        assert options.carrier == "ordinal"
        return FakeProduce(self)

    def consumer(self, options: ConsumerOptions) -> EngineConsumer:
        assert options.partitions == ()
        return FakeConsume(self)

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
        self.said.append(("trips", count, dict(start), first_ordinal))
        return RoundTrips(np.full(count - self.missing, 3), self.missing)


class FakeProduce(EngineProducer):
    def __init__(self, engine: FakeEngine) -> None:
        self._engine, self._calls = engine, 0

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
        self._calls += 2
        self._engine.said.append(("produce", count, first_ordinal, bursts))
        return Produced(LOOP_NS, PAUSED_NS, self._engine.acked, 50 - self._engine.acked, "refused")

    def counters(self) -> dict[str, int]:
        return {"crossings": self._calls}

    def close(self) -> None:
        self._engine.said.append("producer closed")


class FakeConsume(EngineConsumer):
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    def consume(
        self,
        start: Mapping[tuple[int, int], int],
        expected: int,
        *,
        deadline_s: float,
        check: LoadedValues | None = None,
    ) -> Consumed:
        self._engine.said.append(("consume", dict(start), expected, check is not None))
        engine = self._engine
        return Consumed(LOOP_NS, engine.received, engine.wrong, engine.repeated)

    def shared_settings(self) -> list[SharedSetting]:
        return [SharedSetting("fetch_max_wait_ms", "x", 1)]

    def close(self) -> None:
        self._engine.said.append("consumer closed")


class FakeEngineDriver(MemoryDriver, EngineDriver):
    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeEngine()

    def engine(self) -> Engine:
        return self.fake


class Bench:
    def __init__(self, **comparison: Any) -> None:
        self.driver = FakeEngineDriver()
        self.engine = self.driver.fake
        self.loops = JvmLoops(self.driver, Comparison.model_validate(comparison))
        self.place = Place("t", 1, {(0, 0): 0})


def test_a_warm_loop_is_timed_in_the_jvm_without_pauses() -> None:
    bench = Bench(bursts={"length": 5, "interval": "20ms"})
    bench.driver.world.log = [(b"", b"")] * 9
    outcome = bench.loops.produce(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == LOOP_NS - PAUSED_NS
    assert (outcome.seen, outcome.error) == (50, None)
    assert bench.engine.said == [
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
    assert LOOP_NS - PAUSED_NS < produced.elapsed_ns < LOOP_NS + 10**9
    assert LOOP_NS < consumed.elapsed_ns < LOOP_NS + 10**9
    assert bench.engine.loaded == 1


def test_a_warm_consumer_has_read_before() -> None:
    bench = Bench(check_on_consume=True)
    bench.place.start = {(0, 0): 4}
    outcome = bench.loops.consume(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == LOOP_NS
    assert bench.engine.said[:2] == [
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
        setattr(bench.engine, name, value)
    outcome = bench.loops.consume(bench.place, MESSAGES, warm=False)
    assert (outcome.seen, outcome.error) == (seen, error)


def test_what_was_not_acked_is_said() -> None:
    bench = Bench()
    bench.engine.acked = 47
    outcome = bench.loops.produce(bench.place, MESSAGES, warm=False)
    assert outcome.error == "3 of 50 messages were not acked: refused"


def test_round_trips_add_up() -> None:
    bench = Bench(round_trip=True)
    bench.driver.world.log = [(b"", b"")]
    outcome = bench.loops.round_trip(bench.place, MESSAGES, warm=True)
    assert outcome.elapsed_ns == 150
    assert bench.engine.said[:2] == [("trips", 1, {(0, 0): 0}, 50), ("trips", 50, {(0, 0): 1}, 0)]
    bench.engine.missing = 4
    assert bench.loops.round_trip(bench.place, MESSAGES, warm=False).error == "4 of 50 messages did not come"


def test_a_driver_without_the_engine_is_refused() -> None:
    with pytest.raises(BadInput, match="driver memory has no engine jvm"):
        JvmLoops(MemoryDriver(), Comparison())
