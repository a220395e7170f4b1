from __future__ import annotations

import numpy as np
import pytest

from streamgauge.agents.extent import Extent, SettlingExtent
from streamgauge.core.steady_state import SLOT_NS

START_NS = 5_000_000_000
LIMIT_NS = 60_000_000_000


def due(first: int, count: int, per_slot: int = 100) -> np.ndarray:
    return START_NS + np.arange(first, first + count, dtype=np.int64) * (SLOT_NS // per_slot)


def test_a_batch_ends_where_the_warm_up_does() -> None:
    extent = Extent(100, 30)
    assert (extent.warm_up, extent.last) == (30, 130)
    assert extent.room(0, 1000) == 30
    assert extent.room(20, 5) == 5
    assert extent.room(30, 1000) == 100


def test_without_a_count_there_is_no_last_one() -> None:
    extent = Extent(None, 0)
    assert extent.last is None
    assert extent.room(7, 1000) == 1000
    assert extent.end_ns(START_NS, 10) == START_NS + 10


class Settling:
    """A producer of 100 messages a slot, and what the launcher says."""

    def __init__(self, messages: int | None = 250) -> None:
        self.said: int | None = None
        self.extent = SettlingExtent(messages, START_NS, LIMIT_NS, lambda: self.said)
        self.sequence = 0

    def send(self, until: int) -> list[int]:
        """Up to this message; how large the batches are."""
        sizes = []
        while self.sequence < until:
            self.extent.refresh()
            room = self.extent.room(self.sequence, 1000)
            if room <= 0:
                break
            size = len(self.extent.cut(self.sequence, due(self.sequence, min(room, until - self.sequence))))
            sizes.append(size)
            self.sequence += size
        return sizes


def test_batches_do_not_reach_over_the_end_of_a_slot() -> None:
    assert Settling().send(350) == [100, 100, 100, 50]


def test_messages_count_from_the_slot_that_was_said() -> None:
    producer = Settling()
    producer.send(500)
    assert producer.extent.warm_up is producer.extent.last is None
    producer.said = 3
    producer.send(10_000)
    assert (producer.extent.warm_up, producer.extent.last, producer.sequence) == (300, 550, 550)


@pytest.mark.parametrize(
    ("said", "slot"),
    [
        pytest.param([(400, 3), (500, 4)], 4, id="a later one"),
        pytest.param([(400, 3), (500, 5), (540, 4)], 4, id="an earlier one again"),
        pytest.param([(400, 3), (500, 7)], 7, id="one to come: it does not end before that"),
    ],
)
def test_another_slot_may_be_said_meanwhile(said: list[tuple[int, int]], slot: int) -> None:
    producer = Settling()
    for until, each in said:
        producer.send(until)
        producer.said = each
    producer.send(10_000)
    assert (producer.extent.slot, producer.extent.warm_up) == (slot, slot * 100)
    assert producer.sequence == slot * 100 + 250


def test_a_slot_that_has_not_come_is_waited_for() -> None:
    producer = Settling()
    producer.said = 6
    producer.send(10_000)
    assert (producer.extent.warm_up, producer.sequence) == (600, 850)


def test_a_gap_in_the_schedule_leaves_no_slot_out() -> None:
    extent = SettlingExtent(10, START_NS, LIMIT_NS, lambda: 2)
    extent.cut(0, due(0, 1))
    extent.cut(1, due(350, 1))
    extent.refresh()
    assert extent.warm_up == 1


def test_time_is_up_after_the_warm_up_or_its_limit() -> None:
    producer = Settling(None)
    assert producer.extent.end_ns(START_NS, 7) == START_NS + LIMIT_NS + 7
    producer.send(300)
    producer.said = 2
    producer.extent.refresh()
    assert producer.extent.end_ns(START_NS, 7) == START_NS + 2 * SLOT_NS + 7
    assert producer.extent.last is None


@pytest.mark.parametrize("per_slot", [1, 3, 1000])
def test_the_first_message_of_a_slot_is_exact(per_slot: int) -> None:
    extent = SettlingExtent(10, START_NS, LIMIT_NS, lambda: 4)
    sequence = 0
    while sequence < 6 * per_slot:
        sequence += len(extent.cut(sequence, due(sequence, 700, per_slot)))
    extent.refresh()
    first_ns = START_NS + 4 * SLOT_NS
    assert extent.warm_up is not None
    assert due(extent.warm_up, 1, per_slot)[0] >= first_ns > due(extent.warm_up - 1, 1, per_slot)[0]
