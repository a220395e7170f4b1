"""The loops in Java, without agents around them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import jvm_driver
from streamgauge.drivers.order_loops import OrderReceiver, OrderSender
from streamgauge.drivers.registry import open_driver
from streamgauge.payload.orders import Order, OrderMaker
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from streamgauge.tables.events import INTACT

TAG, TOTAL, RATE = 4711, 2000, 20_000.0


@pytest.fixture(scope="module")
def media_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AeronMediaDriver]:
    with AeronMediaDriver(log_dir=tmp_path_factory.mktemp("logs")) as driver:
        yield driver


def target_of(kind: str, directory: Path) -> Target:
    if kind == "simulated":
        return Target(name="t", driver="simulated", settings={"time": "real"})
    settings = {"transport": kind, "directory": str(directory), "idle": "backoff"}
    return Target(name="t", driver="aeron", settings=settings)


@pytest.mark.parametrize("kind", ["simulated", "ipc", "udp"])
def test_orders_go_out_on_schedule_and_come_back_whole(kind: str, media_driver: AeronMediaDriver) -> None:
    driver = jvm_driver(open_driver(target_of(kind, media_driver.directory), {}))
    topic = f"loops-{kind}"
    driver.prepare_topics(Topics(name=topic), (topic,))
    receiver = OrderReceiver(driver, ConsumerOptions(0, (topic,), "value", ((0, 0),), None, {}), TAG)
    receiver.wait_ready(15)
    sender = OrderSender(driver, ProducerOptions(0, (topic,), "value", "all", "none"), TAG, TOTAL)
    deadline = time.monotonic() + 30
    while not receiver.probes():
        sender.probe()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    start_ns = now_ns() + NS_PER_S // 10
    sender.begin(start_ns, RATE, TOTAL, start_ns + 60 * NS_PER_S)
    sequences, rows = [], 0
    while rows < TOTAL:
        assert time.monotonic() < deadline + 30
        if (found := receiver.poll(0.1)) is not None:
            rows += len(found.sequences)
            sequences += found.sequences.tolist()
            due_ns = start_ns + np.rint(found.sequences / RATE * NS_PER_S).astype(np.int64)
            assert found.intended_ns.tolist() == due_ns.tolist()
            assert (found.received_ns >= due_ns).all()
            assert set(found.state.tolist()) == {INTACT}
            assert set(found.size_bytes.tolist()) == {78}
    assert sequences == list(range(TOTAL))
    assert sender.is_done()
    told = sender.take_acks(sender.sent())
    assert told is not None
    acks, acked_ns = told
    assert acks.sequences.tolist() == list(range(TOTAL))
    assert (np.diff(acks.offsets) > 0).all()
    assert (acked_ns >= sender.sent_ns(0, TOTAL)).all()
    assert sender.outstanding() == 0
    assert receiver.caught_up({(0, 0): int(acks.offsets[-1]) + 1})
    sender.close()
    receiver.close()
    driver.close()


def test_how_many_there_are_in_all_may_be_said_while_it_goes_on(tmp_path: Path) -> None:
    driver = jvm_driver(open_driver(target_of("simulated", tmp_path), {}))
    driver.prepare_topics(Topics(name="ends"), ("ends",))
    sender = OrderSender(driver, ProducerOptions(0, ("ends",), "value", "all", "none"), TAG, TOTAL)
    start_ns = now_ns()
    sender.begin(start_ns, 100.0, TOTAL, start_ns + 60 * NS_PER_S)
    sender.end_at(40)
    sender.end_at(60)  # said again before the first of them is there
    deadline = time.monotonic() + 30
    while not sender.is_done():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert sender.sent() == 60
    sender.close()
    driver.close()


def test_java_reads_what_python_writes_and_the_other_way_round(tmp_path: Path) -> None:
    driver = jvm_driver(open_driver(target_of("simulated", tmp_path), {}))
    driver.prepare_topics(Topics(name="mixed"), ("mixed",))
    options = ConsumerOptions(0, ("mixed",), "value", ((0, 0),), None, {})
    receiver = OrderReceiver(driver, options, TAG)
    producer = driver.producer(ProducerOptions(0, ("mixed",), "value", "all", "none"))
    made = OrderMaker(TAG, 0).make(5, np.array([7, 8]))
    damaged = Order.FromString(made.values[1])
    damaged.price += 1
    made.values[1] = damaged.SerializeToString()
    made.values.append(b"nonsense")
    assert producer.send(made, 0) == 3
    states: list[int] = []
    deadline = time.monotonic() + 15
    while len(states) < 3:
        assert time.monotonic() < deadline
        if (rows := receiver.poll(0.1)) is not None:
            states += rows.state.tolist()
    assert states == [0, 1, 2], "intact, corrupt, unexpected"
    producer.close()
    receiver.close()
    driver.close()


def test_simulated_time_has_no_loops() -> None:
    driver = jvm_driver(open_driver(Target(name="s", driver="simulated"), {}))
    with pytest.raises(BadInput, match="needs real time"):
        driver.start_java()


def test_a_driver_that_dies_is_said(tmp_path: Path) -> None:
    with AeronMediaDriver(log_dir=tmp_path) as media_driver:
        target = target_of("ipc", media_driver.directory)
        driver = jvm_driver(open_driver(target, {}))
        options = ConsumerOptions(0, ("gone",), "value", ((0, 0),), None, {})
        receiver = OrderReceiver(driver, options, TAG)
        receiver.wait_ready(15)
    # It is asked every 10 ms whether it is still there.
    with pytest.raises(CaseFailed, match="consumer 0 cannot go on: the media driver is gone"):
        receiver.poll(15)
    receiver.close()
    driver.close()
