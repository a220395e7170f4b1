from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.fanout.names import SCENARIO_NAMES
from streamgauge.families.fanout.section import Fanout
from streamgauge.families.fanout.workload import FanoutWorkload
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.workload import Workload

TARGET = {"name": "gateway", "driver": "push_websocket"}


def workload(**fanout: Any) -> Workload:
    return parse(Workload, {"targets": [TARGET], "fanout": {"clients": ["1k"]} | fanout}, "test")


def test_it_has_no_load_and_reads_back_the_same() -> None:
    made = workload(topics={"name": "LTest"}, drain_timeout="7s")
    assert made.kind == "fanout"
    assert "load" not in dump_yaml(made)
    assert parse(Workload, made.model_dump(mode="json", exclude_defaults=True), "again") == made


@pytest.mark.parametrize(("scenario", "per_s"), [("1", 4.0), ("2", 100.0), ("3", 100.0), ("3jp", 100.0)])
def test_rates_of_the_scenarios(scenario: Any, per_s: float) -> None:
    assert Fanout(clients=(1,)).rate_per_s(scenario) == per_s


def test_a_rate_of_ones_own() -> None:
    assert Fanout(clients=(1,), producers=3, pause=0.1).rate_per_s("1") == 30.0
    assert Fanout(clients=(1,), producers=3, rate=45.0).rate_per_s("1") == 45.0


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"clients": []}, "no values"),
        ({"clients": [2, 1]}, "from few to many"),
        ({"clients": [1, 1]}, "twice"),
        ({"clients": [0]}, "greater than or equal to 1"),
        ({"scenarios": ["4"]}, "'1', '2'"),
        ({"groups": ["other"]}, "no target 'other'"),
        ({"fields": ["nothing"]}, "no field 'nothing'"),
        ({"scenarios": ["3"], "fields": ["firstText"]}, "timestamp is needed"),
        ({"topics": {"count": 2}}, "one topic"),
        ({"wrong": 1}, "fanout.wrong: unknown field"),
        ({"warm_up": "soon"}, "fanout.warm_up"),
        ({"warm_up": -1}, "fanout.warm_up"),
        ({"warm_up_limit": 0}, "fanout.warm_up_limit"),
        ({"rate": 0}, "fanout.rate"),
        ({"rate": 5, "pause": 1}, "give one of the two"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        workload(**given)


def test_nothing_else_may_say_how_much() -> None:
    for more, word in (
        ({"load": {"messages": 1}}, "load: unknown field"),
        ({"kind": "fanout", "sweep": {"message.size": [1]}}, "sweep: unknown field"),
        ({"iterations": 2}, "`kind: fanout` or `kind: sweep`"),
    ):
        with pytest.raises(BadInput, match=word):
            parse(Workload, {"targets": [TARGET], "fanout": {"clients": [1]}, **more}, "test")


def test_every_scenario_is_known() -> None:
    assert isinstance(workload(scenarios=list(SCENARIO_NAMES)), FanoutWorkload)


@pytest.mark.parametrize(
    ("given", "kept"), [({}, "auto"), ({"warm_up": "none"}, 0), ({"warm_up": "500ms"}, 0.5)]
)
def test_a_warm_up_goes_on_until_it_is_at_rest_or_as_long_as_is_said(
    given: dict[str, Any], kept: Any
) -> None:
    made = workload(**given)
    assert isinstance(made, FanoutWorkload)
    assert made.fanout.warm_up == kept
    assert parse(Workload, made.model_dump(mode="json", exclude_defaults=True), "again") == made
