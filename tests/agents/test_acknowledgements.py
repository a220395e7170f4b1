from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.agents.acknowledgements import InlineAcks, ThreadedAcks
from streamgauge.core.clock import NS_PER_MS, Clock
from streamgauge.drivers.contract import Acks, Producer
from streamgauge.payload.making import Outgoing
from streamgauge.recording.columns import SendColumns
from streamgauge.tables.events import SENDS

from ..recording.recorder import Recorder
from .fakes import START_NS, FakeClock, FakeProducer

PATIENCE_S = 60.0


class Sent:
    """Columns with some messages that were handed over at `START_NS`."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Recorder(str(folder))
        self.columns = SendColumns(0, self.recorder.files, self.recorder.writer)

    def send(self, producer: Producer, count: int) -> None:
        batch = Outgoing(self.columns.sent, [b""] * count, None, None)
        with self.columns.handing_over:
            taken = producer.send(batch, 0)
            self.columns.add(taken, 0, np.zeros(taken, np.int64), np.full(taken, START_NS), START_NS)

    def acked_ns(self) -> list[int | None]:
        self.columns.close()
        return [row["acked_ns"] for row in self.recorder.rows(SENDS)]


@pytest.fixture
def sent(tmp_path: Path) -> Sent:
    return Sent(tmp_path)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START_NS)


def test_looking_does_not_wait(sent: Sent, clock: FakeClock) -> None:
    producer = FakeProducer(clock, send_ns=0)
    sent.send(producer, 2)
    acks = InlineAcks(producer, sent.columns)
    acks.look()
    assert clock.at_ns == START_NS
    assert sent.acked_ns() == [None, None]


def test_acks_that_come_while_waiting_are_stamped_when_they_come(sent: Sent, clock: FakeClock) -> None:
    producer = FakeProducer(clock, ack_after_ns=3 * NS_PER_MS, send_ns=0)
    acks = InlineAcks(producer, sent.columns)
    sent.send(producer, 1)
    clock.at_ns += NS_PER_MS
    sent.send(producer, 1)
    acks.wait_until(START_NS + 10 * NS_PER_MS)
    assert clock.at_ns == START_NS + 10 * NS_PER_MS
    assert sent.acked_ns() == [START_NS + 3 * NS_PER_MS, START_NS + 4 * NS_PER_MS]


@pytest.mark.parametrize("wait_ns", [NS_PER_MS // 2, 5 * NS_PER_MS])
def test_waiting_ends_on_time_with_and_without_acks_to_come(
    sent: Sent, clock: FakeClock, wait_ns: int
) -> None:
    silent = FakeProducer(clock, ack_after_ns=None, send_ns=0)
    acks = InlineAcks(silent, sent.columns)
    acks.wait_until(START_NS + wait_ns)
    assert clock.at_ns == START_NS + wait_ns
    sent.send(silent, 1)
    acks.wait_until(START_NS + 2 * wait_ns)
    assert clock.at_ns == START_NS + 2 * wait_ns
    acks.wait_until(START_NS)
    assert clock.at_ns == START_NS + 2 * wait_ns


def test_closing_takes_what_has_come_last(sent: Sent, clock: FakeClock) -> None:
    producer = FakeProducer(clock, ack_after_ns=0, send_ns=0)
    sent.send(producer, 3)
    InlineAcks(producer, sent.columns).close()
    assert sent.acked_ns() == [START_NS] * 3


class Answering(Producer):
    """Acknowledges in real time what the test tells it to."""

    clock = Clock()

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._answer: Callable[[], Acks] | None = None
        self.polled_in: set[str] = set()
        self.taken_by_poll = threading.Event()

    def answer(self, answer: Callable[[], Acks]) -> None:
        with self._news:
            self._answer = answer
            self._news.notify_all()

    def send(self, batch: Outgoing, topic: int) -> int:
        return len(batch)

    def poll(self, timeout_s: float) -> Acks | None:
        self.polled_in.add(threading.current_thread().name)
        with self._news:
            self._news.wait_for(lambda: self._answer, timeout_s)
            answer, self._answer = self._answer, None
        if answer is None:
            return None
        self.taken_by_poll.set()
        return answer()

    def outstanding(self) -> int:
        return 0

    def close(self) -> None:
        pass


def test_a_thread_takes_acks_while_the_producer_does_nothing(sent: Sent) -> None:
    producer = Answering()
    acks = ThreadedAcks(producer, sent.columns)
    sent.send(producer, 3)
    before = time.monotonic_ns()
    producer.answer(lambda: Acks(np.array([2, 0]), 0, np.array([1, 2])))
    assert producer.taken_by_poll.wait(PATIENCE_S)
    acks.close()
    after = time.monotonic_ns()
    first, second, third = sent.acked_ns()
    assert second is None
    assert first == third
    assert first is not None
    assert before <= first <= after
    assert producer.polled_in == {"acks"}


def test_a_thread_that_fails_is_heard_of_by_the_producer(sent: Sent) -> None:
    producer = Answering()
    acks = ThreadedAcks(producer, sent.columns)
    acks.look()

    def fail() -> Any:
        raise RuntimeError("the client broke")

    producer.answer(fail)
    acks._thread.join(PATIENCE_S)
    with pytest.raises(RuntimeError, match="the client broke"):
        acks.look()
    with pytest.raises(RuntimeError, match="the client broke"):
        acks.wait_until(0)
    with pytest.raises(RuntimeError, match="the client broke"):
        acks.close()


def test_waiting_with_a_thread_is_plain_sleep(sent: Sent) -> None:
    producer = Answering()
    acks = ThreadedAcks(producer, sent.columns)
    due_ns = time.monotonic_ns() + 2 * NS_PER_MS
    acks.wait_until(due_ns)
    assert time.monotonic_ns() >= due_ns
    acks.close()
    assert producer.polled_in <= {"acks"}
