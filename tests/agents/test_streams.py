"""Agents that have several partitions, each with a producer or a consumer of its own."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import Acks, ConsumerOptions, ProducerOptions, Received
from streamgauge.payload.making import MessageMaker, Outgoing
from streamgauge.spec.load import Message
from streamgauge.tables.events import MARKS

from .conftest import Assign
from .fakes import START_NS, FakeClock, FakeConsumer, FakeProducer, RealTimeStreamDriver, StreamDriver
from .stage import READING, Stage

STREAMS = {"streams": "per_partition", "message": {"size": 64}, "topics": {"count": 2, "partitions": 2}}


def by_producer(stage: Stage, name: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in stage.sends:
        found.setdefault(row["producer"], []).append(row[name])
    return found


def test_each_partition_is_sent_its_own_stream_through_its_own_client(assign: Assign) -> None:
    stage = Stage(assign(**STREAMS, messages=None, stream_size=64 * 10))
    clients = {number: FakeProducer(FakeClock()) for number in range(4)}
    driver = StreamDriver(clients)
    stage.produce(driver)
    assert [(o.number, o.place) for o in driver.options if isinstance(o, ProducerOptions)] == [
        (0, (0, 0)),
        (1, (0, 1)),
        (2, (1, 0)),
        (3, (1, 1)),
    ]
    assert by_producer(stage, "sequence") == {number: list(range(10)) for number in range(4)}
    assert by_producer(stage, "topic") == {0: [0] * 10, 1: [0] * 10, 2: [1] * 10, 3: [1] * 10}
    assert {topic for _, topic in clients[3].sent} == {1}
    assert stage.live.messages == 40


@pytest.mark.parametrize("driver_class", [StreamDriver, RealTimeStreamDriver])
def test_streams_share_one_schedule(assign: Assign, driver_class: type[StreamDriver]) -> None:
    clock = FakeClock()
    clients = {n: FakeProducer(FakeClock() if driver_class is StreamDriver else clock) for n in range(4)}
    stage = Stage(assign(**STREAMS, messages=100, rate=50_000))
    stage.produce(driver_class(clients))
    intended = sorted(row["intended_ns"] for row in stage.sends)
    assert intended == [START_NS + k * NS_PER_S // 50_000 for k in range(100)]
    assert all(row["sent_ns"] >= row["intended_ns"] for row in stage.sends)


def test_in_real_time_streams_take_turns(assign: Assign) -> None:
    """None is done before every other one has begun, though each could send all it has at once."""
    clock = FakeClock()
    clients = {n: FakeProducer(clock, send_ns=NS_PER_MS) for n in range(4)}
    stage = Stage(assign(**STREAMS, messages=12_000))
    stage.produce(RealTimeStreamDriver(clients))
    sent = by_producer(stage, "sent_ns")
    assert [len(times) for times in sent.values()] == [3000] * 4
    assert max(times[0] for times in sent.values()) < min(times[-1] for times in sent.values())


def test_counted_messages_wait_until_the_way_is_open(assign: Assign) -> None:
    stage = Stage(assign(**STREAMS, messages=40, stream_warm_up_messages=1))
    clients = {n: FakeProducer(FakeClock(), ack_after_ns=80 * NS_PER_MS) for n in range(4)}
    stage.produce(StreamDriver(clients))
    for producer in range(4):
        rows = [row for row in stage.sends if row["producer"] == producer]
        assert len(rows) == 11
        assert rows[1]["sent_ns"] >= rows[0]["acked_ns"]


def test_every_stream_has_marks_of_its_own(assign: Assign) -> None:
    stage = Stage(assign(**STREAMS, messages=40))
    stage.produce(StreamDriver({n: FakeProducer(FakeClock()) for n in range(4)}))
    stage.diary.set_clock(READING, stage.rendezvous.start)
    stage.diary.mark("connected", 5)
    stage.diary.write()
    rows = stage.recorder.rows(MARKS)
    assert {row["agent"] for row in rows} == {"producer-0"}
    for mark in ("start", "measure_begin", "measure_end", "connected"):
        assert sorted(row["number"] for row in rows if row["mark"] == mark) == [0, 1, 2, 3]


def test_how_far_the_leaders_acknowledged_is_told(assign: Assign) -> None:
    stage = Stage(assign(messages=40, rate=1000, acks=1, topics={"partitions": 1}))
    stage.produce(StreamDriver({0: FakeProducer(FakeClock())}))
    assert stage.rendezvous.ends == {(0, 0): 40}


class Committing(FakeProducer):
    """Notes what was sent when a transaction was ended, and who called it meanwhile."""

    def __init__(self) -> None:
        super().__init__(FakeClock())
        self.commits: list[int] = []
        self.disturbed = False
        self._busy = threading.Event()

    def commit(self) -> None:
        self._busy.set()
        threading.Event().wait(0.01)
        self.commits.append(len(self.sent))
        self._busy.clear()

    def send(self, batch: Outgoing, topic: int) -> int:
        self.disturbed = self.disturbed or self._busy.is_set()
        return super().send(batch, topic)

    def poll(self, timeout_s: float) -> Acks | None:
        self.disturbed = self.disturbed or self._busy.is_set()
        return super().poll(timeout_s)


def test_a_transaction_is_ended_after_its_messages_and_at_the_end(assign: Assign) -> None:
    client = Committing()
    stage = Stage(assign(messages=25, transactions={"messages": 10}))
    driver = RealTimeStreamDriver({0: client})
    stage.produce(driver)
    assert client.commits == [10, 20, 25]
    assert not client.disturbed
    [asked] = driver.options
    assert isinstance(asked, ProducerOptions)
    assert asked.transactional_id == "streamgauge-run-001-0"


def test_what_was_aborted_is_recorded_so_whatever_acks_said(assign: Assign) -> None:
    class Aborting(Committing):
        def abort(self) -> None:
            self.aborts = [*getattr(self, "aborts", []), len(self.sent)]

        def commit(self) -> str | None:  # type: ignore[override]
            super().commit()
            return "fenced by a newer one" if len(self.commits) == 3 else None

    client = Aborting()
    stage = Stage(assign(messages=45, transactions={"messages": 10, "abort_every": 2}))
    stage.produce(RealTimeStreamDriver({0: client}))

    assert (client.commits, client.aborts) == ([10, 30, 45], [20, 40])
    said = {row["sequence"]: row["error"] for row in stage.sends}
    wanted = dict.fromkeys(range(45))
    wanted |= dict.fromkeys([*range(10, 20), *range(30, 40)], "aborted: as the workload wants it")
    wanted |= dict.fromkeys(range(40, 45), "aborted: fenced by a newer one")
    assert said == wanted


def test_a_transaction_that_cannot_be_ended_is_a_failure(assign: Assign) -> None:
    class Refused(Committing):
        def commit(self) -> None:
            raise CaseFailed("fenced")

    with pytest.raises(CaseFailed, match="fenced"):
        Stage(assign(messages=25, transactions={})).produce(RealTimeStreamDriver({0: Refused()}))


def test_each_partition_is_read_by_a_consumer_of_its_own(assign: Assign) -> None:
    stage = Stage(assign("consumer-0", **STREAMS, messages=40))
    values = {
        n: MessageMaker(Message(size=64), 77, n).make(0, np.full(10, START_NS)).values for n in range(4)
    }
    clients = {n: FakeConsumer(FakeClock(START_NS), [(START_NS + n, values[n])]) for n in range(4)}
    driver = StreamDriver(clients, {(t, p): 10 for t in range(2) for p in range(2)})
    agent = stage.consume(driver)
    assert [o.partitions for o in driver.options if isinstance(o, ConsumerOptions)] == [
        ((0, 0),),
        ((0, 1),),
        ((1, 0),),
        ((1, 1),),
    ]
    rows = stage.receives
    assert len(rows) == 40
    assert all(row["consumer"] == row["producer"] for row in rows)
    assert {(row["consumer"], row["received_ns"]) for row in rows} == {(n, START_NS + n) for n in range(4)}
    assert not agent.timed_out


def test_a_consumer_that_fails_in_its_thread_fails_the_agent(assign: Assign) -> None:
    class Broken(FakeConsumer):
        def poll(self, timeout_s: float) -> Received | None:
            raise CaseFailed("it is gone")

    clients = {n: FakeConsumer(FakeClock(START_NS), []) for n in range(3)}
    clients[3] = Broken(FakeClock(START_NS), [])
    with pytest.raises(CaseFailed, match="it is gone"):
        Stage(assign("consumer-0", **STREAMS, messages=40)).consume(StreamDriver(clients))
