from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from streamgauge.agents.producer import ProducerAgent
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.drivers.contract import Acks, ProducerOptions
from streamgauge.drivers.simulated.driver import Simulated
from streamgauge.spec.target import Target

from .conftest import Assign
from .fakes import START_NS, FakeClock, FakeDriver, FakeProducer, RealTimeDriver
from .stage import Stage

RATE = 1000
APART_NS = NS_PER_S // RATE


def ran(stage: Stage, **producer: Any) -> tuple[ProducerAgent, FakeProducer]:
    client = FakeProducer(FakeClock(), **producer)
    return stage.produce(FakeDriver(client)), client


def due_ns(count: int) -> list[int]:
    return [START_NS + k * APART_NS for k in range(count)]


def column(stage: Stage, name: str) -> list[Any]:
    return [row[name] for row in stage.sends]


def test_every_message_is_sent_when_it_is_due_and_acknowledged(assign: Assign) -> None:
    stage = Stage(assign(messages=300, rate=RATE))
    agent, client = ran(stage)
    assert column(stage, "sequence") == list(range(300))
    assert column(stage, "intended_ns") == due_ns(300)
    assert column(stage, "sent_ns") == due_ns(300)
    waits_ns = [row["acked_ns"] - row["sent_ns"] for row in stage.sends]
    assert NS_PER_MS <= min(waits_ns) <= max(waits_ns) < 1.1 * NS_PER_MS
    assert client.flushed
    assert not agent.timed_out
    assert stage.live.messages == 300


def test_a_client_that_refuses_for_a_while_makes_sent_lag_while_intended_stays_on_schedule(
    assign: Assign,
) -> None:
    stalled = range(START_NS + 50 * NS_PER_MS, START_NS + 150 * NS_PER_MS)
    stage = Stage(assign(messages=400, rate=RATE))
    agent, _ = ran(stage, room=lambda now_ns: 0 if now_ns in stalled else 1_000_000)
    assert column(stage, "intended_ns") == due_ns(400)
    lags_ms = [(row["sent_ns"] - row["intended_ns"]) / NS_PER_MS for row in stage.sends]
    assert max(lags_ms[:50]) == 0
    # What was due in the stall is sent right after it, so that the lag falls by 1 ms a message.
    assert lags_ms[50:150] == pytest.approx([100 - k for k in range(100)], abs=1.5)
    assert max(lags_ms[155:]) < 0.01
    assert all(row["sent_ns"] not in stalled for row in stage.sends)
    assert not agent.timed_out


def test_a_client_that_takes_a_few_at_a_time_gets_each_message_once_and_in_order(assign: Assign) -> None:
    size = {"distribution": "uniform", "min": 40, "max": 400}
    stage = Stage(assign(messages=200, rate=RATE, message={"size": size}))
    _, client = ran(stage, room=lambda now_ns: 0 if now_ns < START_NS + 100 * NS_PER_MS else 7)
    assert [sequence for sequence, _ in client.sent] == list(range(200))
    assert column(stage, "intended_ns") == due_ns(200)
    assert column(stage, "size_bytes") == client.sizes
    assert len(set(client.sizes)) > 50


def test_without_a_rate_a_message_is_due_when_it_is_sent(assign: Assign) -> None:
    stage = Stage(assign(messages=5000))
    ran(stage)
    assert column(stage, "intended_ns") == column(stage, "sent_ns")
    assert len(stage.sends) == 5000


@pytest.mark.parametrize(("count", "send_ns"), [(16, 730), (1000, 730), (5000, 730), (5000, 20_000)])
def test_a_short_run_as_fast_as_it_goes_has_the_rate_that_it_had(
    assign: Assign, count: int, send_ns: int
) -> None:
    """5,000 messages at a true 1.37M/s: with one stamp for 1,000 of them they went at 1.71M/s."""
    # Simulated time begins at the machine's own.
    stage = Stage(assign(messages=count, time_limit=1e9))
    driver = Simulated(Target(name="s", driver="simulated", settings={"send_ns": send_ns}), {})
    driver.prepare_topics(stage.assignment.load.topics, stage.assignment.topics)
    try:
        stage.produce(driver).clients[0].close()
    finally:
        driver.close()
    sent_ns = column(stage, "sent_ns")
    assert len(set(sent_ns)) == count
    assert (count - 1) * NS_PER_S / (sent_ns[-1] - sent_ns[0]) == pytest.approx(NS_PER_S / send_ns, rel=0.001)


@pytest.mark.parametrize("warm_up", [0, 1, 25])
@pytest.mark.parametrize("rate", [RATE, "unlimited"])
@pytest.mark.parametrize("agent", ["producer-0", "producer-1"])
def test_the_mark_stands_exactly_between_warm_up_and_measured_messages(
    assign: Assign, agent: str, rate: Any, warm_up: int
) -> None:
    stage = Stage(assign(agent, messages=200, rate=rate, warm_up_messages=2 * warm_up, producers=2))
    ran(stage)
    marks = stage.marks()
    assert [name for name, _ in marks] == ["start", "measure_begin", "measure_end"]
    begun = dict(marks)["measure_begin"]
    assert len(stage.sends) == warm_up + 100
    assert all(row["sent_ns"] < begun for row in stage.sends[:warm_up])
    assert all(row["sent_ns"] >= begun for row in stage.sends[warm_up:])


def test_the_end_is_marked_when_everything_has_been_told(assign: Assign) -> None:
    stage = Stage(assign(messages=10, rate=RATE))
    ran(stage, ack_after_ns=70 * NS_PER_MS)
    marks = dict(stage.marks())
    assert marks["start"] == START_NS
    assert marks["measure_end"] >= max(column(stage, "acked_ns"))
    assert stage.rendezvous.said == ["finished"]


def test_several_producers_share_one_schedule(assign: Assign) -> None:
    intended: list[int] = []
    for number in range(3):
        stage = Stage(assign(f"producer-{number}", messages=100, rate=RATE, producers=3))
        ran(stage)
        intended += column(stage, "intended_ns")
    assert sorted(intended) == due_ns(100)


def test_topics_get_batches_in_turn(assign: Assign) -> None:
    stage = Stage(assign(messages=9, rate=RATE, topics={"count": 3}))
    _, client = ran(stage)
    assert [topic for _, topic in client.sent] == [0, 1, 2] * 3
    assert column(stage, "topic") == [0, 1, 2] * 3


def test_a_message_that_is_not_delivered_keeps_its_row_with_the_reason(assign: Assign) -> None:
    stage = Stage(assign(messages=4, rate=RATE))
    ran(stage, errors={2: "too large"})
    assert column(stage, "error") == [None, None, "too large", None]


def test_messages_not_sent_by_the_time_limit_are_not_sent_and_it_is_said(assign: Assign) -> None:
    stage = Stage(assign(messages=1000, rate=RATE, time_limit="100ms"))
    agent, client = ran(stage)
    assert agent.timed_out
    assert column(stage, "intended_ns") == due_ns(100)
    assert client.clock.at_ns < START_NS + NS_PER_S
    assert stage.rendezvous.said == ["finished"]


def test_a_client_that_refuses_for_ever_does_not_outlast_the_time_limit(assign: Assign) -> None:
    stage = Stage(assign(messages=1000, rate=RATE, time_limit="2s"))
    agent, client = ran(stage, room=lambda now_ns: 1 if now_ns < START_NS + 10 * NS_PER_MS else 0)
    assert agent.timed_out
    assert len(stage.sends) == 10
    assert client.clock.at_ns < START_NS + 3 * NS_PER_S


def test_a_duration_is_the_end_and_no_time_out(assign: Assign) -> None:
    stage = Stage(assign(messages=None, duration="50ms"))
    agent, _ = ran(stage, send_ns=NS_PER_MS)
    assert not agent.timed_out
    assert START_NS + 49 * NS_PER_MS <= column(stage, "sent_ns")[-1] < START_NS + 50 * NS_PER_MS


def test_a_duration_cut_short_by_the_time_limit_is_a_time_out(assign: Assign) -> None:
    stage = Stage(assign(messages=None, duration="50ms", time_limit="20ms"))
    agent, _ = ran(stage, send_ns=NS_PER_MS)
    assert agent.timed_out
    assert column(stage, "sent_ns")[-1] < START_NS + 20 * NS_PER_MS


def test_a_run_given_up_ends_early_and_keeps_the_rows(assign: Assign) -> None:
    stage = Stage(assign(messages=1000, rate=RATE))
    client = FakeProducer(FakeClock())
    stage.rendezvous.stopping = lambda: client.clock.at_ns >= START_NS + 20 * NS_PER_MS
    agent = stage.produce(FakeDriver(client))
    assert not agent.timed_out
    assert column(stage, "intended_ns") == due_ns(20)
    assert client.clock.at_ns < START_NS + 30 * NS_PER_MS


def test_a_run_given_up_while_the_client_refuses_ends_too(assign: Assign) -> None:
    stage = Stage(assign(messages=1000, rate=RATE))
    client = FakeProducer(FakeClock(), room=lambda now_ns: 0)
    stage.rendezvous.stopping = lambda: client.clock.at_ns >= START_NS + 20 * NS_PER_MS
    agent = stage.produce(FakeDriver(client))
    assert not agent.timed_out
    assert stage.sends == []


def test_acks_that_never_come_are_given_up_and_stay_unknown(assign: Assign) -> None:
    stage = Stage(assign(messages=5, rate=RATE))
    agent, client = ran(stage, ack_after_ns=None)
    assert agent.timed_out
    assert column(stage, "acked_ns") == [None] * 5
    assert client.clock.at_ns < START_NS + 70 * NS_PER_S


def test_the_client_is_told_what_the_load_wants(assign: Assign) -> None:
    driver = FakeDriver(FakeProducer(FakeClock()))
    load = {"acks": 1, "compression": "lz4", "topics": {"count": 2}, "message": {"size": 5}}
    Stage(assign("producer-1", producers=2, **load)).produce(driver)
    assert driver.options == [ProducerOptions(1, ("t-0", "t-1"), "key", "1", "lz4")]


class YieldingClock(FakeClock):
    """Whoever waits lets other threads go on."""

    def sleep_until(self, due_ns: int) -> None:
        super().sleep_until(due_ns)
        time.sleep(0.0005)


class PolledBy(FakeProducer):
    """Notes the threads that look for acks."""

    def __init__(self) -> None:
        super().__init__(YieldingClock(), ack_after_ns=0)
        self.threads: set[str] = set()

    def poll(self, timeout_s: float) -> Acks | None:
        self.threads.add(threading.current_thread().name)
        return super().poll(0)


@pytest.mark.parametrize(
    ("rate", "producers", "threaded"),
    [(9_999, 1, True), (19_998, 2, True), (10_000, 1, False), ("unlimited", 1, False)],
)
def test_acks_have_a_thread_of_their_own_below_ten_thousand_a_second(
    assign: Assign, rate: Any, producers: int, threaded: bool
) -> None:
    client = PolledBy()
    stage = Stage(assign(messages=20, rate=rate, producers=producers))
    stage.produce(RealTimeDriver(client))
    assert ("acks" in client.threads) == threaded
    assert (threading.current_thread().name in client.threads) != threaded
    assert None not in column(stage, "acked_ns")
