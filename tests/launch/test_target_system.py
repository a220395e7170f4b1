"""What is done with a system of our own between its start and its first case."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.launch import target_system
from streamgauge.launch.target_system import LaunchedSystem
from streamgauge.spec.target import Target
from streamgauge.systems.contract import START_DEADLINE_S, System
from streamgauge.systems.equipment import Equipment


class Cold(System):
    """Tells in which order it was used."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.is_primed_at = 0

    def launch(self) -> None:
        self.told.append("launched")

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None: ...

    def prime(self, is_over: Event) -> None:
        if self.is_primed_at:
            is_over.wait(self.is_primed_at)
        self.told.append("told to end" if is_over.is_set() else "primed")

    def endpoints(self) -> dict[str, str]:
        self.told.append("in use")
        return {}

    def processes(self) -> dict[str, int]:
        return {}

    def stop(self) -> None:
        self.told.append("stopped")


class There(Cold):
    outlives_us = True


def launched(system: Cold, monkeypatch: pytest.MonkeyPatch) -> LaunchedSystem:
    class Made:
        @staticmethod
        def of(*_: object) -> Cold:
            return system

    monkeypatch.setattr(target_system, "system_class", lambda kind: Made)
    target = Target.model_validate({"name": "k", "driver": "kafka_confluent", "system": {}})
    found = LaunchedSystem(target, Path())
    found.launch()
    return found


def test_a_system_of_ours_is_primed_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Cold()
    found = launched(system, monkeypatch)
    found.wait()
    found.stop()
    assert system.told == ["launched", "primed", "in use", "stopped"]


def test_one_that_was_there_before_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    system = There()
    launched(system, monkeypatch).wait()
    assert system.told == ["launched", "in use"]


def test_nobody_waits_long_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Cold()
    system.is_primed_at = 60
    monkeypatch.setattr(target_system, "_PRIMING_DEADLINE_S", 0.0)
    launched(system, monkeypatch).wait()
    assert system.told == ["launched", "told to end", "in use"]


def test_who_is_stopped_early_ends_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Cold()
    system.is_primed_at = 60
    launched(system, monkeypatch).stop()
    assert system.told == ["launched", "told to end", "stopped"]


def test_one_that_will_not_be_treated_well_is_asked_for_as_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class Made:
        @staticmethod
        def of(*_: object, **how: object) -> Cold:
            asked.append(how)
            return Cold()

    monkeypatch.setattr(target_system, "system_class", lambda kind: Made)
    target = Target.model_validate({"name": "k", "driver": "kafka_confluent", "system": {}})
    for equipment in (None, Equipment()):
        found = LaunchedSystem(target, Path(), equipment=equipment)
        found.launch()
        found.stop()
    assert asked == [{}, {"is_own": True}]
    with pytest.raises(BadInput, match="Cold cannot be started with what the faults"):
        LaunchedSystem(target, Path(), equipment=Equipment(links=True)).launch()
