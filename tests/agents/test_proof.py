"""Messages that nobody counts, sent until the consumer has received one."""

from __future__ import annotations

import numpy as np
import pytest

from streamgauge.agents.consumer import ConsumerAgent
from streamgauge.agents.producer import ProducerAgent
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.payload.making import MessageMaker
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.spec.load import Message

from .conftest import Assign
from .fakes import START_NS, FakeClock, FakeConsumer, FakeDriver, FakeProducer, RealTimeDriver
from .stage import Stage

TAG = 77
ONE_EACH = {"producers": 1, "consumers": 1, "topics": {"name": "t"}, "proof": True}


def messages(first: int, count: int) -> list[bytes]:
    return MessageMaker(Message(), TAG, 0).make(first, np.full(count, START_NS)).values


def producer_agent(stage: Stage, client: FakeProducer) -> tuple[ProducerAgent, SendColumns]:
    columns = SendColumns(0, stage.recorder.files, stage.recorder.writer)
    driver = RealTimeDriver(client)
    return ProducerAgent(stage.assignment, driver, [columns], stage.diary, stage.live), columns


def test_a_producer_sends_them_until_the_start_and_counts_none(assign: Assign) -> None:
    stage = Stage(assign(messages=20, rate=20_000, **ONE_EACH))
    client = FakeProducer(FakeClock(), ack_after_ns=1_000_000)
    agent, columns = producer_agent(stage, client)
    agent.idle()
    agent.idle()
    assert client.outstanding() > 0
    agent.run(START_NS, stage.rendezvous)
    columns.close()
    assert [sequence for sequence, _ in client.sent] == [-1, -2, *range(20)]
    assert [row["sequence"] for row in stage.sends] == list(range(20))
    assert all(row["acked_ns"] for row in stage.sends)


def test_one_that_is_never_acked_ends_the_case(assign: Assign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge.agents.sending._WARM_UP_DEADLINE_S", 0.1)
    stage = Stage(assign(messages=20, rate=20_000, **ONE_EACH))
    agent, _ = producer_agent(stage, FakeProducer(FakeClock(), ack_after_ns=None))
    agent.idle()
    with pytest.raises(CaseFailed, match="were to prove the way are not acknowledged"):
        agent.run(START_NS, stage.rendezvous)


def consumer_agent(stage: Stage, client: FakeConsumer, ends: int) -> tuple[ConsumerAgent, ReceiveColumns]:
    columns = ReceiveColumns(0, stage.recorder.files, stage.recorder.writer)
    driver = FakeDriver(client, lambda: ends)
    return ConsumerAgent(stage.assignment, driver, [columns], stage.diary, stage.live), columns


def test_a_consumer_is_proven_by_one_and_records_none(assign: Assign) -> None:
    stage = Stage(assign("consumer-0", **ONE_EACH))
    mixed = [*messages(-2, 2), *messages(0, 3)]
    client = FakeConsumer(FakeClock(START_NS), [(START_NS, messages(-3, 1)), (START_NS + 5, mixed)])
    agent, columns = consumer_agent(stage, client, ends=6)
    agent.prove(5)
    agent.run(stage.rendezvous)
    columns.close()
    assert [row["sequence"] for row in stage.receives] == [0, 1, 2]
    assert [row["offset"] for row in stage.receives] == [3, 4, 5]


def test_a_consumer_that_receives_nothing_does_not_let_the_clock_start(assign: Assign) -> None:
    stage = Stage(assign("consumer-0", **ONE_EACH))
    agent, _ = consumer_agent(stage, FakeConsumer(FakeClock(START_NS), []), ends=0)
    with pytest.raises(Unreachable, match=r"consumer 0 has received nothing .*the clock was not started"):
        agent.prove(0.2)
