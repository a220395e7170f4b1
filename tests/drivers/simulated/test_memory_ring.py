"""The simulated broker in real time."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.simulated.memory_ring import RingConsumer, RingProducer, make_ring
from streamgauge.payload.making import Outgoing
from streamgauge.spec.target import Target
from streamgauge.testing.driver_suite import DriverSuite


class TestRealTime(DriverSuite):
    @pytest.fixture
    def target(self) -> Target:
        return Target(name="harness", driver="simulated", settings={"time": "real"})


def ring(folder: Path) -> tuple[RingProducer, RingConsumer]:
    (folder / "t").mkdir(parents=True)
    make_ring(folder / "t" / "0")
    options = ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {})
    return RingProducer(folder, 1, ProducerOptions(0, ("t",), "value", "1", "none")), RingConsumer(
        folder, options
    )


def test_messages_one_by_one_lie_where_those_of_a_batch_do(tmp_path: Path) -> None:
    values, found = [b"x" * size for size in (40, 0, 7)], []
    for name, at_once in (("one", 1), ("many", 3)):
        producer, consumer = ring(tmp_path / name)
        told: list[int] = []
        for first in range(0, 3, at_once):
            assert producer.send(Outgoing(first, values[first : first + at_once], None, None), 0) == at_once
            acks = producer.poll(0)
            assert acks is not None
            told += acks.offsets.tolist()
        received = consumer.poll(0)
        assert received is not None
        assert received.values == values
        assert received.offsets.tolist() == told
        found.append(told)
    assert found[0] == found[1]


def test_a_message_that_does_not_fit_is_not_taken_and_fits_when_somebody_has_read(tmp_path: Path) -> None:
    producer, consumer = ring(tmp_path)
    large = Outgoing(0, [b"x" * (3 << 20)], None, None)
    assert [producer.send(large, 0), producer.send(large, 0)] == [1, 0]
    assert consumer.poll(0) is not None
    assert producer.send(large, 0) == 1
