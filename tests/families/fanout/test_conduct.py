from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from streamgauge.agents.sampler import Told
from streamgauge.core.errors import BadInput
from streamgauge.core.outside import Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout import broker_metrics, servers_there
from streamgauge.families.fanout.conduct import FanoutConduct
from streamgauge.families.fanout.own_gateway import gateway_configuration
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.launch.conduct import CaseSystem
from streamgauge.launch.feasibility import faults_of
from streamgauge.launch.served_load import served_load_notes
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload
from tests.gateway.server.plain_session import ask


def the_case(driver: str, **settings: str) -> Case:
    content = {
        "kind": "fanout",
        "targets": [{"name": "t", "driver": driver, "settings": settings}],
        "fanout": {"clients": [1000], "duration": "10s", "warm_up": "2s", "drain_timeout": "7s"},
    }
    [case] = make_plan(Workload.model_validate(content), "run").cases
    return case


def test_a_gateway_of_our_own_cannot_log_in() -> None:
    conduct, file = FanoutConduct(), "client.properties"
    why = conduct.why_impossible(the_case("push_websocket", security_file=file))
    assert why is not None
    assert "cannot log in at a secured Kafka" in why
    assert (
        conduct.why_impossible(the_case("push_websocket", security_file=file, gateway="http://h:1")) is None
    )
    assert conduct.why_impossible(the_case("kafka_confluent", security_file=file)) is None


def test_what_measured_clients_note_goes_through_the_launcher_when_the_case_is_over() -> None:
    """Hosts that share no storage send it there; it is told with the run's other notes, before any load."""
    targets = [{"name": "t", "driver": "push_websocket"}]
    fanout = {"clients": [40_000], "duration": "3h", "warm_up": "none", "measured": "all"}
    content = {"kind": "fanout", "targets": targets, "fanout": fanout}
    plan = make_plan(Workload.model_validate(content), "run")
    served_load, here = FanoutConduct().served_load, RunDir("/runs/one")
    [note] = served_load_notes(plan.cases, here, "10.0.0.1", served_load)
    point = as_work(plan.cases[0].work, FanoutPoint)
    written = (point.message_count + 40_000 * point.message_count) * 8.6
    assert f"{written / 1e9:.1f} GB of events" in note
    assert "when the case is over" in note
    few = make_plan(Workload.model_validate({**content, "fanout": {**fanout, "measured": 200}}), "run")
    assert list(served_load_notes(few.cases, here, "10.0.0.1", served_load)) == []


@pytest.mark.parametrize(
    ("driver", "kind", "settings", "more", "why"),
    [
        ("push_websocket", "gateway_restart", {}, {}, None),
        ("push_websocket", "broker_kill", {}, {}, "broker_kill is for loads"),
        ("kafka_confluent", "gateway_restart", {}, {}, "come to no gateway"),
        ("push_websocket", "gateway_restart", {"gateway": "http://h:1"}, {}, "a gateway that runs already"),
        ("push_websocket", "gateway_restart", {}, {"gateway_hosts": ["other"]}, "on the launcher's host"),
    ],
)
def test_a_fault_of_the_gateway_is_done_to_one_that_the_run_starts_here(
    driver: str, kind: str, settings: dict[str, str], more: dict[str, Any], why: str | None
) -> None:
    fanout = {"clients": [10], "warm_up": "2s", "faults": [{"kind": kind, "at": 3}], **more}
    content = {
        "kind": "fanout",
        "targets": [{"name": "t", "driver": driver, "settings": settings}],
        "fanout": fanout,
    }
    [case] = make_plan(Workload.model_validate(content), "run").cases

    said = FanoutConduct().why_impossible(case)

    assert said is None if why is None else why in str(said)
    assert [fault.kind for fault in faults_of(case)] == [kind]
    assert as_work(case.work, FanoutPoint).fixed_warm_up_s == 2


def test_a_gateway_that_is_to_be_killed_goes_on_where_the_topic_ends() -> None:
    def begins(**more: Any) -> str:
        fanout = Fanout.model_validate({"clients": [10], **more})
        point = FanoutPoint(scenario="1", clients=10, via="gateway", series="g", fanout=fanout)
        [connection] = gateway_configuration(point, "t", "h:1")["connections"].values()
        return str(connection["record.consume.from"])

    assert begins() == "EARLIEST"
    assert begins(faults=[{"kind": "gateway_restart", "at": 3}]) == "LATEST"


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


def test_servers_that_are_there_are_watched_by_their_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker, socket.create_server(("127.0.0.1", 0)) as gateway:
        broker_port, gateway_port = (each.getsockname()[1] for each in (broker, gateway))
        monkeypatch.setattr(servers_there, "_brokers_of", lambda target: [("127.0.0.1", broker_port)])
        case = the_case("push_websocket", bootstrap="h:1", gateway=f"http://127.0.0.1:{gateway_port}")
        with FanoutConduct().around(RunDir(str(tmp_path)), case, TargetSystem("x")) as own:
            names = [
                f"broker-1 (found by port {broker_port}: process {os.getpid()})",
                f"gateway-1 (found by port {gateway_port}: process {os.getpid()})",
            ]
            assert own.processes == {
                names[0]: ("broker", os.getpid()),
                names[1]: ("gateway", os.getpid()),
            }
            assert list(own.traffic) == names[:1]


def test_brokers_that_tell_of_themselves_are_asked_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {
        "kind": "fanout",
        "targets": [{"name": "t", "driver": "kafka_confluent", "settings": {"bootstrap": "h:1"}}],
        "fanout": {"clients": [1], "broker_metrics": ["http://127.0.0.1:1/metrics"]},
    }
    workload = Workload.model_validate(content)
    with pytest.raises(BadInput, match=r"--broker-metrics http://127.0.0.1:1/metrics: cannot be read"):
        FanoutConduct().check(workload)
    monkeypatch.setattr(broker_metrics, "asked", lambda url: Told(7, 1.5, 10, 3, None))
    monkeypatch.setattr(servers_there, "_brokers_of", lambda target: [("h", 1)])
    [case] = make_plan(workload, "run").cases
    with FanoutConduct().around(RunDir(str(tmp_path)), case, TargetSystem("x")) as own:
        [(name, (kind, latest))] = own.told.items()
        assert (name, kind, latest().cpu_s) == ("broker-1 (told by 127.0.0.1:1)", "broker", 1.5)
        assert own.processes == {}, "who tells of itself is not looked for"
    monkeypatch.setattr(servers_there, "_brokers_of", lambda target: [("h", 1), ("h", 2)])
    some = FanoutConduct().around(RunDir(str(tmp_path)), case, TargetSystem("x"))
    with pytest.raises(BadInput, match=r"1 given, and target t has 2 brokers: give one for each"), some:
        pass


@pytest.mark.process
def test_a_gateway_for_clients_on_other_hosts_lets_nobody_in_without_the_token(tmp_path: Path) -> None:
    run, outside = RunDir(str(tmp_path)), Outside("127.0.0.2", "the token of this run")
    case = the_case("push_websocket", bootstrap="127.0.0.1:1")
    system = TargetSystem("x", {"bootstrap": "127.0.0.1:1"}, {"broker-1": 1})
    with FanoutConduct().around(run, case, system, outside) as own:
        assert own.endpoints["gateway"].startswith("http://127.0.0.2:")
        assert own.endpoints["gateway_login"] == "run_token"
        path = "/lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0"
        session = (
            "LS_adapter_set=KafkaConnector&LS_cid=test&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
        )
        answers = [
            ask(own.endpoints["gateway"], "POST", path, session + login)[1]
            for login in ("", "&LS_password=a%20guess", "&LS_password=the%20token%20of%20this%20run")
        ]
        assert [answer.partition(",")[0] for answer in answers] == ["CONERR", "CONERR", "CONOK"]


def test_the_gateway_maps_the_scenario() -> None:
    point = as_work(the_case("push_websocket").work, FanoutPoint)
    text = gateway_configuration(point, "topic", "h:1")["connections"]["Fanout"]
    assert text["map.topic.to"] == "ltest"
    keyed = gateway_configuration(point.model_copy(update={"scenario": "3"}), "topic", "h:1")
    assert keyed["connections"]["Fanout"]["item-template.jsontest"] == "jsontest-#{key=KEY}"
    assert keyed["connections"]["Fanout"]["record.value.evaluator.type"] == "JSON"
