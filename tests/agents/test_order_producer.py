"""The producer agent whose loop is in Java; here that loop is a counter that goes as far as it is told to."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from streamgauge.agents import order_producer
from streamgauge.agents.order_producer import OrderProducerAgent, first_of_slot
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.steady_state import SLOT_NS

from .conftest import Assign
from .fakes import FakeRendezvous


@pytest.mark.parametrize("rate", [3.0, 1000.0, 1003.7, 25_000.0])
@pytest.mark.parametrize("slot", [0, 1, 7, 240])
def test_the_first_message_of_a_slot_is_due_in_it(rate: float, slot: int) -> None:
    first = first_of_slot(slot, rate)
    assert round(first / rate * NS_PER_S) >= slot * SLOT_NS
    assert first == 0 or round((first - 1) / rate * NS_PER_S) < slot * SLOT_NS


class CountingSender:
    """Sends ten messages a look."""

    size_bytes = 78

    def __init__(self, *given: Any) -> None:
        self.total = self._sent = 0
        self.ends: list[int] = []
        self.room = int(given[-1])

    def begin(self, start_ns: int, per_s: float, total: int, end_ns: int) -> None:
        self.total = total

    def end_at(self, total: int) -> None:
        self.ends.append(total)
        self.total = min(total, self.room)

    def is_done(self) -> bool:
        self._sent = min(self._sent + 10, max(self.total, self._sent))
        return self._sent >= self.total

    def sent(self) -> int:
        return self._sent

    def sent_ns(self, first: int, count: int) -> Any:
        return np.arange(first, first + count)

    def take_acks(self, sent: int) -> None: ...

    def outstanding(self) -> int:
        return 0

    def probes_settled(self) -> bool:
        return True


class Columns:
    """How many rows there are."""

    sent = 0

    def __init__(self) -> None:
        self.handing_over = threading.Lock()

    def add(self, count: int, *_: Any) -> None:
        self.sent += count

    def acked_ends(self) -> dict[tuple[int, int], int]:
        return {}

    def follow_ends(self, *_: int) -> None: ...


class Marks:
    """A diary, and what live figures are told."""

    def __init__(self) -> None:
        self.marks: list[str] = []

    def mark(self, mark: str, *_: Any) -> None:
        self.marks.append(mark)

    def count(self, *_: Any) -> None: ...


@pytest.fixture
def agent(assign: Assign, monkeypatch: pytest.MonkeyPatch) -> OrderProducerAgent:
    monkeypatch.setattr(order_producer, "OrderSender", CountingSender)
    monkeypatch.setattr(order_producer, "jvm_driver", lambda driver: driver)
    monkeypatch.setattr(order_producer, "_LOOK_S", 0.0)
    load: dict[str, Any] = {"messages": 500, "rate": "1k/s", "warm_up_messages": "auto"}
    jvm = {"engine": "jvm", "message": {"size": {"protobuf": "order"}}, "warm_up_limit": "10s"}
    driver: Any = SimpleNamespace(capabilities=SimpleNamespace(simulated_time=False, replayable=True))
    columns: Any = Columns()
    marks: Any = Marks()
    return OrderProducerAgent(assign(**load, **jvm), driver, columns, marks, marks)


def test_it_sends_until_what_counts_is_sent_since_the_slot_that_was_said_last(
    agent: OrderProducerAgent,
) -> None:
    sender: Any = agent.clients[0]

    def said() -> int | None:
        return None if sender.sent() < 700 else 4 if sender.sent() < 1200 else 6

    agent.run(0, FakeRendezvous(measured_slot=said))
    assert sender.ends == [1500, 2000]
    assert sender.sent() == 2000
    assert (agent.warm_up_messages, agent.measured_slots) == ({0: 1500}, {0: 6})
    assert not agent.timed_out
    marks: Any = agent._diary
    assert "measure_begin" not in marks.marks, "whoever knows when that was notes it in the end"


def test_who_never_hears_when_to_begin_ends_with_the_room_for_rows(agent: OrderProducerAgent) -> None:
    sender: Any = agent.clients[0]
    agent.run(0, FakeRendezvous())
    assert sender.sent() == sender.room == 500 + 1000 * (10 + 15)
    assert (agent.warm_up_messages, agent.measured_slots) == ({}, {})
