from __future__ import annotations

import os
from typing import Any

import pytest

from streamgauge.launch.live_choice import choose_live, why_no_broker
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload

AUTO, ON, OFF = (LiveWish(mode) for mode in (LiveMode.auto, LiveMode.on, LiveMode.off))
KAFKA = {"name": "k", "driver": "kafka_confluent", "system": {"brokers": 3}}
SIMULATED = {"name": "s", "driver": "simulated"}


def cases(target: dict[str, Any]) -> list[Case]:
    return list(
        make_plan(Workload.model_validate({"targets": [target], "load": {"messages": 9}}), "run").cases
    )


@pytest.mark.parametrize(
    ("cores", "wish", "master", "is_on", "why_not"),
    [
        # Two agents, three brokers of ours, two cores to spare.
        (7, AUTO, None, True, ""),
        (6, AUTO, None, False, "it would share 6 cores with what is measured, which takes 5"),
        (2, ON, None, True, ""),
        (64, OFF, None, False, ""),
        (64, AUTO, "local[2]", False, "--master local[2] has no slot left for it; local[3] would"),
        (64, ON, "local[2]", False, "--master local[2] has no slot left for it; local[3] would"),
        (64, AUTO, "local[3]", True, ""),
        # A cluster has cores elsewhere; whether one is free only Spark knows.
        (2, AUTO, "spark://h:7077", True, ""),
    ],
)
def test_auto_is_off_where_it_would_share_cores_with_what_is_measured(
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    wish: LiveWish,
    master: str | None,
    is_on: bool,
    why_not: str,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    choice = choose_live(wish, cases(KAFKA), 2, master, is_watched=True)
    assert (choice.is_on, choice.why_not) == (is_on, why_not)
    assert choice.is_refused == (wish is ON and not is_on)


def test_auto_needs_somebody_who_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert not choose_live(AUTO, cases(KAFKA), 2, None, is_watched=False).is_on
    assert choose_live(ON, cases(KAFKA), 2, None, is_watched=False).is_on


def test_simulated_time_has_no_seconds_to_show() -> None:
    choice = choose_live(ON, cases(SIMULATED), 2, None, is_watched=True)
    assert choice.is_refused
    assert "this run has none" in choice.why_not


@pytest.mark.parametrize(
    ("client", "bootstrap", "words"),
    [
        ({}, "h:9092", ""),
        ({"security.protocol": "plaintext"}, "h:9092", ""),
        ({}, None, "target k is no Kafka; name one with --live-bootstrap"),
        ({"security.protocol": "SASL_SSL"}, "h:9092", "target k is secured; name a Kafka without"),
        ({"security_protocol": "SSL"}, "h:9092", "target k is secured; name a Kafka without"),
    ],
)
def test_a_kafka_that_cannot_carry_the_figures_is_said_in_words(
    client: dict[str, Any], bootstrap: str | None, words: str
) -> None:
    target = Target.model_validate({"name": "k", "driver": "kafka_confluent", "client": client})
    assert why_no_broker(target, bootstrap).startswith(words)
    assert bool(why_no_broker(target, bootstrap)) == bool(words)
