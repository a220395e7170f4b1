from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

import numpy as np
import pytest

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers import event_loop
from streamgauge.drivers.async_contract import AsyncConsumer, AsyncProducer
from streamgauge.drivers.contract import Received
from streamgauge.drivers.event_loop import BlockingConsumer, BlockingProducer
from streamgauge.drivers.fates import Fates
from streamgauge.payload.making import Outgoing


class SlowProducer(AsyncProducer):
    """Takes a message at each turn of the loop, and tells of it at once."""

    def __init__(self, refuses: int = -1) -> None:
        self.sent: list[bytes] = []
        self.closed = False
        self._refuses = refuses

    async def start(self) -> None:
        self.loop = asyncio.get_running_loop()

    async def send(self, batch: Outgoing, topic: int, fates: Fates) -> None:
        for row, value in enumerate(batch.values):
            await asyncio.sleep(0)
            if len(self.sent) == self._refuses:
                raise RuntimeError("no more")
            self.sent.append(value)
            fates.delivered((batch.first_sequence + row, topic, len(self.sent) - 1))

    async def close(self) -> None:
        assert asyncio.get_running_loop() is self.loop
        self.closed = True


class OneByOne(AsyncConsumer):
    def __init__(self, unreachable: bool = False) -> None:
        self._unreachable = unreachable
        self.at = 0

    async def start(self) -> None:
        if self._unreachable:
            raise Unreachable("nobody there")

    async def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self.at = start[0, 0]

    async def wait_ready(self, deadline_s: float) -> None:
        await asyncio.sleep(0)

    async def poll(self, timeout_s: float) -> Received | None:
        if timeout_s > 100:
            await asyncio.sleep(timeout_s)
        self.at += 1
        return Received([b"x"], None, 0, 0, np.array([self.at - 1]), np.array([0]), 1)

    async def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return self.at >= ends[0, 0]

    async def close(self) -> None: ...


def outgoing(first: int, count: int) -> Outgoing:
    return Outgoing(first, [bytes([n]) for n in range(first, first + count)], None, None)


def poll_until_told(producer: BlockingProducer) -> None:
    while producer.outstanding():
        producer.poll(0.05)


def loop_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "event-loop"]


def test_batches_are_handed_over_in_turn_and_told_of() -> None:
    client = SlowProducer()
    producer = BlockingProducer(client)
    assert producer.send(outgoing(0, 50), 0) == 50
    assert producer.send(outgoing(50, 50), 0) == 50
    told: list[int] = []
    while producer.outstanding():
        acks = producer.poll(5)
        assert acks is not None
        told += acks.sequences.tolist()
    assert told == list(range(100))
    assert client.sent == [bytes([n]) for n in range(100)]
    producer.close()
    assert client.closed
    assert not loop_threads()


def test_only_so_much_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "Fates", lambda: Fates(most_messages=30))
    producer = BlockingProducer(SlowProducer())
    assert producer.send(outgoing(0, 50), 0) == 30
    assert producer.send(outgoing(30, 20), 0) == 0
    poll_until_told(producer)
    assert producer.send(outgoing(30, 20), 0) == 20
    producer.close()


def test_a_library_that_gives_up_is_the_end_of_the_case() -> None:
    client = SlowProducer(refuses=3)
    producer = BlockingProducer(client)
    producer.send(outgoing(0, 10), 0)
    with pytest.raises(CaseFailed, match="the producer cannot go on: no more"):
        poll_until_told(producer)
    assert len(client.sent) == 3
    producer.close()


def test_a_consumer_answers_through_the_loop() -> None:
    consumer = BlockingConsumer(OneByOne())
    consumer.wait_ready(1)
    consumer.assign({(0, 0): 7})
    received = consumer.poll(0.1)
    assert received is not None
    assert received.offsets.tolist() == [7]
    assert consumer.caught_up({(0, 0): 8})
    assert not consumer.caught_up({(0, 0): 9})
    consumer.close()


def test_a_client_that_cannot_start_leaves_no_thread_behind() -> None:
    with pytest.raises(Unreachable, match="nobody there"):
        BlockingConsumer(OneByOne(unreachable=True))
    assert not loop_threads()


def test_a_loop_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "_GRACE_S", -999.9)
    consumer = BlockingConsumer(OneByOne())
    with pytest.raises(CaseFailed, match=r"did not answer within 0\.1 s"):
        consumer.poll(1000)
    consumer.close()
    assert not loop_threads()
