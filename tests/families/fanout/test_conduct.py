from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.case_gateway import gateway_configuration
from streamgauge.families.fanout.conduct import FanoutConduct
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.launch.conduct import CaseSystem
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload


def the_case(driver: str, **settings: str) -> Case:
    content = {
        "kind": "fanout",
        "targets": [{"name": "t", "driver": driver, "settings": settings}],
        "fanout": {"clients": [1000], "duration": "10s", "warm_up": "2s", "drain_timeout": "7s"},
    }
    [case] = make_plan(Workload.model_validate(content), "run").cases
    return case


def test_a_case_is_of_a_series_and_has_its_own_deadlines() -> None:
    case = the_case("kafka_confluent", bootstrap="127.0.0.1:1")
    assert (case.series, case.time_limit_s, case.drain_timeout_s) == ("t", 72.0, 7.0)
    conduct = FanoutConduct()
    assert conduct.words_of(case) == "1,000 clients"
    assert conduct.message_count(case) == 48
    assert conduct.why_impossible(case) is None
    assert not conduct.judge(case, []).holds


def test_who_has_no_swarms_is_refused() -> None:
    assert "driver simulated has no swarms" in (FanoutConduct().why_impossible(the_case("simulated")) or "")


def test_kafka_needs_no_gateway_and_a_gateway_that_runs_is_used(tmp_path: Path) -> None:
    run, system = RunDir(str(tmp_path)), TargetSystem("x", {"bootstrap": "127.0.0.1:9"}, {"broker-1": 1})
    with FanoutConduct().around(run, the_case("kafka_confluent", bootstrap="h:1"), system) as own:
        assert own == CaseSystem()
    running = the_case("push_websocket", bootstrap="h:1", gateway="http://h:2")
    with FanoutConduct().around(run, running, system) as own:
        assert (own.endpoints, own.processes, list(own.traffic)) == ({}, {}, ["broker-1"])


def test_a_gateway_without_a_kafka_is_refused(tmp_path: Path) -> None:
    around = FanoutConduct().around(RunDir(str(tmp_path)), the_case("push_websocket"), TargetSystem("x"))
    with pytest.raises(BadInput, match="no Kafka address"), around:
        pass


def test_the_gateway_maps_the_scenario() -> None:
    point = as_work(the_case("push_websocket").work, FanoutPoint)
    text = gateway_configuration(point, "topic", "h:1")["connections"]["Fanout"]
    assert text["map.topic.to"] == "ltest"
    keyed = gateway_configuration(point.model_copy(update={"scenario": "3"}), "topic", "h:1")
    assert keyed["connections"]["Fanout"]["item-template.jsontest"] == "jsontest-#{key=KEY}"
    assert keyed["connections"]["Fanout"]["record.value.evaluator.type"] == "JSON"
