from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from streamgauge.agents.consumer import ConsumerAgent
from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.drivers.contract import ConsumerOptions
from streamgauge.payload.making import MessageMaker
from streamgauge.spec.load import Message
from streamgauge.tables.events import CORRUPT, DEALT_MARK, INTACT, UNEXPECTED

from .conftest import Assign
from .fakes import NEVER, START_NS, FakeClock, FakeConsumer, FakeDriver
from .stage import Stage

TAG = 77


def messages(count: int, first: int = 0, intended_ns: int = START_NS) -> list[bytes]:
    return MessageMaker(Message(), TAG, 4).make(first, np.full(count, intended_ns)).values


def at_ms(ms: float) -> int:
    return START_NS + round(ms * NS_PER_MS)


@pytest.fixture
def stage(assign: Assign) -> Stage:
    return Stage(assign("consumer-0", drain_timeout="2s"))


def ran(stage: Stage, client: FakeConsumer, ends: Callable[[], int]) -> ConsumerAgent:
    return stage.consume(FakeDriver(client, ends))


def consumer(*coming: tuple[int, list[bytes]], endless: bytes | None = None) -> FakeConsumer:
    return FakeConsumer(FakeClock(START_NS), list(coming), endless=endless)


def finished_at(client: FakeConsumer, ms: float) -> Callable[[], bool]:
    return lambda: client.clock.at_ns >= at_ms(ms)


def test_when_its_group_deals_anew_is_marked_before_what_came_with_it(assign: Assign) -> None:
    class Member(FakeConsumer):
        def dealt_count(self) -> int:
            return 1 + (self.read > 2)

    stage = Stage(assign("consumer-0", subscription="group"))
    ran(
        stage,
        Member(FakeClock(START_NS), [(at_ms(5), messages(2)), (at_ms(9), messages(1, first=2))]),
        lambda: 3,
    )
    assert [at for name, at in stage.marks() if name == DEALT_MARK] == [at_ms(5), at_ms(9)]
    assert [row["received_ns"] for row in stage.receives] == [at_ms(5), at_ms(5), at_ms(9)]


def test_what_comes_is_recorded_with_who_sent_it_and_when_it_came(stage: Stage) -> None:
    client = consumer((at_ms(5), messages(2)), (at_ms(9), messages(1, first=2)))
    agent = ran(stage, client, lambda: 3)
    assert [(row["arrival"], row["producer"], row["sequence"]) for row in stage.receives] == [
        (0, 4, 0),
        (1, 4, 1),
        (2, 4, 2),
    ]
    assert [row["received_ns"] for row in stage.receives] == [at_ms(5), at_ms(5), at_ms(9)]
    assert [(row["offset"], row["broker_ms"]) for row in stage.receives] == [(0, 5000), (1, 5001), (2, 5002)]
    assert {(row["state"], row["size_bytes"]) for row in stage.receives} == {(INTACT, 700)}
    assert stage.live.messages == 3
    assert not agent.timed_out


def test_damaged_and_foreign_records_are_told_apart_and_kept(stage: Stage) -> None:
    good, bad = messages(2)
    spoilt = bad[:100] + bytes([bad[100] ^ 1]) + bad[101:]
    ran(stage, consumer((at_ms(1), [good, spoilt, b"foreign"])), lambda: 3)
    assert [row["state"] for row in stage.receives] == [INTACT, CORRUPT, UNEXPECTED]


def test_only_intact_messages_count_for_the_latency_shown(stage: Stage) -> None:
    far = np.array([7, -1, -(2**61), 0], "<i8").tobytes() + b"x" * 668
    ran(stage, consumer((at_ms(3), [*messages(3), far, b"foreign"])), lambda: 5)
    stage.live.publish()
    shown = stage.recorder.run.read_json(stage.recorder.run.live("consumer-0"))
    assert shown["p99_ms"] == pytest.approx(3.0)


def test_it_reads_on_until_producers_have_finished_and_all_is_read(stage: Stage) -> None:
    late = (at_ms(900), messages(5, first=5))
    client = consumer((at_ms(5), messages(5)), late)
    stage.rendezvous.producers_finished = finished_at(client, 100)
    agent = ran(stage, client, lambda: 10)
    assert len(stage.receives) == 10
    assert not agent.timed_out
    marks = stage.marks()
    assert [name for name, _ in marks] == ["start", "measure_begin", "measure_end", "drained"]
    assert at_ms(100) <= dict(marks)["measure_end"] < at_ms(900) <= dict(marks)["drained"] <= at_ms(1200)


def test_measuring_begins_with_the_first_message_after_the_warm_up(stage: Stage) -> None:
    load = stage.assignment.load.model_copy(update={"warm_up_messages": 5})
    stage.assignment = stage.assignment.model_copy(update={"work": load})
    ran(stage, consumer((at_ms(5), messages(5)), (at_ms(70), messages(5, first=5))), lambda: 10)
    assert dict(stage.marks())["measure_begin"] == at_ms(70)


def test_it_asks_where_partitions_end_only_when_all_is_written(stage: Stage) -> None:
    client = consumer()
    stage.rendezvous.producers_finished = finished_at(client, 500)
    asked: list[int] = []

    def ends() -> int:
        asked.append(client.clock.at_ns)
        return 0

    ran(stage, client, ends)
    assert asked
    assert min(asked) >= at_ms(500)


def test_messages_that_never_come_are_given_up_at_the_drain_timeout(stage: Stage) -> None:
    client = consumer((at_ms(5), messages(5)))
    agent = ran(stage, client, lambda: 6)
    assert agent.timed_out
    assert len(stage.receives) == 5
    assert at_ms(2000) <= client.clock.at_ns <= at_ms(2300)
    assert [name for name, _ in stage.marks()][-1] == "drained"


def test_a_backlog_is_read_to_its_end_even_past_the_drain_timeout(stage: Stage) -> None:
    client = consumer(*((at_ms(50 * n), messages(1, first=n)) for n in range(100)))
    agent = ran(stage, client, lambda: 100)
    assert len(stage.receives) == 100
    assert not agent.timed_out


def test_strangers_who_write_for_ever_do_not_keep_a_consumer_that_has_read_all(stage: Stage) -> None:
    client = consumer((at_ms(5), messages(5)), endless=b"stranger")
    agent = ran(stage, client, lambda: 5)
    assert not agent.timed_out
    assert client.clock.at_ns <= at_ms(2300)


def test_a_run_given_up_ends_at_once_and_keeps_the_rows(stage: Stage) -> None:
    client = consumer((at_ms(5), messages(5)), (at_ms(5000), messages(5)))
    stage.rendezvous.producers_finished = NEVER
    stage.rendezvous.stopping = finished_at(client, 50)
    agent = ran(stage, client, lambda: 10)
    assert len(stage.receives) == 5
    assert not agent.timed_out
    assert client.clock.at_ns < at_ms(300)


def test_a_run_given_up_while_draining_ends_too(stage: Stage) -> None:
    client = consumer((at_ms(5), messages(5)))
    stage.rendezvous.stopping = finished_at(client, 500)
    agent = ran(stage, client, lambda: 10)
    assert len(stage.receives) == 5
    assert not agent.timed_out
    assert client.clock.at_ns < at_ms(800)


@pytest.mark.parametrize(("acks", "received"), [("all", 5), ("1", 7), ("0", 7)])
def test_without_acks_from_all_replicas_it_looks_twice_for_stragglers(
    assign: Assign, acks: str, received: int
) -> None:
    stage = Stage(assign("consumer-0", acks=acks, drain_timeout="5s"))
    client = consumer((at_ms(5), messages(5)), (at_ms(800), messages(2, first=5)))
    agent = ran(stage, client, lambda: 5 if client.clock.at_ns < at_ms(700) else 7)
    assert len(stage.receives) == received
    assert not agent.timed_out


def test_the_client_is_told_where_to_begin(assign: Assign) -> None:
    load = {"consumers": 2, "topics": {"partitions": 4}, "subscription": "group"}
    assignment = assign("consumer-1", **load).model_copy(update={"start_offsets": ((0, 1, 50), (0, 3, 70))})
    driver = FakeDriver(consumer(), lambda: 0)
    Stage(assignment).consume(driver)
    assert driver.options == [
        ConsumerOptions(
            number=1,
            topics=("t-0",),
            carrier="value",
            partitions=((0, 1), (0, 3)),
            group="streamgauge-run-001",
            start={(0, 1): 50, (0, 3): 70},
        )
    ]


def test_drain_timeout_is_counted_from_the_end_of_the_producers(stage: Stage) -> None:
    client = consumer()
    stage.rendezvous.producers_finished = finished_at(client, 10_000)
    agent = ran(stage, client, lambda: 1)
    assert agent.timed_out
    assert client.clock.at_ns >= START_NS + 12 * NS_PER_S


def test_with_acks_of_the_leaders_the_end_is_where_these_say(assign: Assign) -> None:
    """No second of waiting for what may still become visible: it is known how much there is."""
    stage = Stage(assign("consumer-0", acks=1))
    stage.rendezvous.acked_ends = lambda: {(0, 0): 3}
    client = consumer((at_ms(5), messages(2)), (at_ms(400), messages(1, first=2)))
    ran(stage, client, lambda: 2)
    assert len(stage.receives) == 3
    assert client.clock.at_ns < at_ms(700)
