"""The suite finds what it is there for: the driver of the docs, each time with one fault."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from streamgauge.drivers.contract import Acks, Driver, Received
from streamgauge.payload.making import Outgoing
from streamgauge.spec.load import Message
from streamgauge.spec.target import Target
from streamgauge.testing import wired
from streamgauge.testing.driver_suite import DriverSuite

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "driver" / "sqlite_log.py"


def _module() -> ModuleType:
    about = importlib.util.spec_from_file_location("sqlite_log", EXAMPLE)
    assert about is not None
    assert about.loader is not None
    module = importlib.util.module_from_spec(about)
    sys.modules["sqlite_log"] = module
    about.loader.exec_module(module)
    return module


sqlite_log: Any = _module()


class Loses(sqlite_log.SqliteProducer):
    """… the last of every batch, and says that it is there."""

    def send(self, batch: Outgoing, topic: int) -> int:
        super().send(batch.head(len(batch) - 1), topic)
        self._acks.add(batch.first_sequence + len(batch) - 1, 0, np.array([10**6]))
        return len(batch)


class Misplaces(sqlite_log.SqliteProducer):
    def poll(self, timeout_s: float) -> Acks | None:
        acks = super().poll(timeout_s)
        return None if acks is None else replace(acks, offsets=acks.offsets + 1)


class TellsTwice(sqlite_log.SqliteProducer):
    def send(self, batch: Outgoing, topic: int) -> int:
        taken = int(super().send(batch, topic))
        self._acks.add(batch.first_sequence, 0, np.arange(taken))
        return taken


class Unbound(sqlite_log.SqliteProducer):
    def __init__(self, driver: Any, options: Any) -> None:
        super().__init__(driver, replace(options, place=None))


class Changes(sqlite_log.SqliteConsumer):
    """What it received, by `change`."""

    change: Callable[[Received], Received]

    def poll(self, timeout_s: float) -> Received | None:
        received = super().poll(timeout_s)
        return None if received is None else type(self).change(received)


class Damages(Changes):
    change = staticmethod(lambda got: replace(got, values=[value[:-1] + b"?" for value in got.values]))


class Disorders(Changes):
    change = staticmethod(lambda got: replace(got, values=got.values[::-1], offsets=got.offsets[::-1]))


class Confuses(Changes):
    change = staticmethod(lambda got: replace(got, topics=0))


class Empties(Changes):
    change = staticmethod(
        lambda got: replace(got, values=[], offsets=got.offsets[:0], timestamps_ms=got.timestamps_ms[:0])
    )


class Hurries(sqlite_log.SqliteConsumer):
    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return True


class StartsAnew(sqlite_log.SqliteConsumer):
    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        super().assign(dict.fromkeys(start, 0))


class Told(sqlite_log.SqliteConsumer):
    def counters(self) -> dict[str, int]:
        return {"crossings": 0}


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Driver]:
    def make(fault: type | None = None) -> Driver:
        target = Target(name="t", driver="sqlite_log", settings={"file": str(tmp_path / "log.db")})
        driver = sqlite_log.SqliteLog(target, {})
        if fault is not None:
            role = "producer" if issubclass(fault, sqlite_log.SqliteProducer) else "consumer"
            setattr(driver, role, lambda options: fault(driver, options))
        return driver

    return make


IN_VALUE = {"message": Message(size=100)}
CHECKS: dict[str, dict[str, Any]] = {
    "test_every_message_is_acked_once_and_received_once_and_whole": IN_VALUE,
    "test_acks_name_the_place_where_consumers_find_the_message": {},
    "test_order_holds_within_a_partition": {},
    "test_topics_are_told_apart": {},
    "test_a_consumer_that_is_not_there_yet_is_not_caught_up": {},
    "test_a_loop_without_message_headers": {},
    "test_a_producer_bound_to_a_partition_sends_everything_there": {},
    "test_counters_are_numbers_by_name": {},
}


@pytest.mark.parametrize(
    ("fault", "found_by"),
    [
        (Loses, "test_every_message_is_acked_once_and_received_once_and_whole"),
        (TellsTwice, "test_every_message_is_acked_once_and_received_once_and_whole"),
        (Damages, "test_every_message_is_acked_once_and_received_once_and_whole"),
        (Empties, "test_every_message_is_acked_once_and_received_once_and_whole"),
        (Misplaces, "test_acks_name_the_place_where_consumers_find_the_message"),
        (Disorders, "test_order_holds_within_a_partition"),
        (Confuses, "test_topics_are_told_apart"),
        (Hurries, "test_a_consumer_that_is_not_there_yet_is_not_caught_up"),
        (StartsAnew, "test_a_loop_without_message_headers"),
        (Unbound, "test_a_producer_bound_to_a_partition_sends_everything_there"),
        (Told, "test_counters_are_numbers_by_name"),
    ],
)
def test_a_fault_is_found(
    made: Callable[..., Driver], monkeypatch: pytest.MonkeyPatch, fault: type, found_by: str
) -> None:
    monkeypatch.setattr(wired, "PATIENCE_S", 1.0)
    check = getattr(DriverSuite(), found_by)
    with pytest.raises(AssertionError):
        check(made(fault), "faulty", **CHECKS[found_by])


def test_without_a_fault_all_of_them_pass(made: Callable[..., Driver]) -> None:
    for number, (name, more) in enumerate(CHECKS.items()):
        getattr(DriverSuite(), name)(made(), f"whole-{number}", **more)
