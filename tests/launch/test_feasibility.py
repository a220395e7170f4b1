from __future__ import annotations

import sys
from typing import Any

import pytest

from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.launch.feasibility import impossible_cases, why_load_is_impossible
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload


def cases(load: dict[str, Any], sweep: dict[str, Any] | None = None, **target: Any) -> list[Case]:
    content = {"targets": [{"name": "t", "driver": "simulated", **target}], "load": {"messages": 9, **load}}
    return list(make_plan(Workload.model_validate({**content, "sweep": sweep or {}}), "run").cases)


def test_a_case_that_cannot_be_is_named_and_the_others_go_on() -> None:
    system = {"driver": "kafka_confluent", "system": {"brokers": 3}}
    found = impossible_cases(cases({}, {"topics.replicas": [1, 3, 5]}, **system), why_load_is_impossible)
    assert list(found) == ["003"]
    assert str(found["003"]) == ("topics.replicas: 5 replicas need as many brokers; target t has 3")


def test_a_workload_without_any_case_that_can_be_run_is_refused() -> None:
    system = {"driver": "kafka_confluent", "system": {"brokers": 1}}
    with pytest.raises(BadInput, match="3 replicas need as many brokers"):
        impossible_cases(cases({}, {"topics.replicas": [3, 5]}, **system), why_load_is_impossible)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"transactions": {}}, "load.transactions: driver simulated of target t cannot do that"),
        ({"message": {"size": {"lines_of": "/no/such/file"}}}, "/no/such/file: no such file"),
    ],
)
def test_what_the_driver_cannot_do_is_refused(load: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        impossible_cases(cases(load), why_load_is_impossible)
    assert words in str(caught.value)


def test_what_can_be_is_let_through() -> None:
    load = {"streams": "per_partition", "completions": False, "topics": {"partitions": 3}}
    assert impossible_cases(cases(load), why_load_is_impossible) == {}


def test_a_library_that_is_not_there_concerns_its_target_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "streamgauge.drivers.zeromq.driver", None)
    targets = [{"name": "there", "driver": "simulated"}, {"name": "not", "driver": "zeromq"}]
    load = {"messages": 9, "message": {"size": 64}}
    both = list(make_plan(Workload.model_validate({"targets": targets, "load": load}), "run").cases)
    found = impossible_cases(both, why_load_is_impossible)
    assert list(found) == ["002"]
    assert "pip install 'streamgauge[zeromq]'" in str(found["002"])
    with pytest.raises(NotInstalled):
        impossible_cases(both[1:], why_load_is_impossible)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"size": 8}, "message: a header in the key"),
        ({"size": 8, "keys": {"kind": "random", "of": 3}}, "message: a header in record headers"),
        ({"size": 64, "keys": {"kind": "random", "of": 3}}, "message.keys"),
        ({"size": 64, "headers": {"who": "me"}}, "message.headers"),
    ],
)
def test_what_a_transport_has_no_place_for_is_not_left_out_in_silence(message: Any, why: str) -> None:
    with pytest.raises(BadInput, match=f"load.{why}: driver zeromq of target t cannot do that"):
        impossible_cases(cases({"message": message}, driver="zeromq"), why_load_is_impossible)


def test_the_engine_jvm_needs_a_driver_that_has_it() -> None:
    load = {"engine": "jvm", "rate": 100, "message": {"size": {"protobuf": "order"}}}
    with pytest.raises(BadInput, match="driver zeromq of target t has no engine jvm"):
        impossible_cases(cases(load, driver="zeromq"), why_load_is_impossible)
