"""Whole gateways on a real Kafka, with the published benchmark's own configurations."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from streamgauge.systems.push_gateway import PushGateway

from ..connector.kafka_side import DEADLINE_S, Sender, new_topic, source_of
from .plain_session import PlainSession, ask
from .raw_client import WebSocket
from .running import ADAPTER_SET, running

pytestmark = pytest.mark.broker

HEAD = """<?xml version="1.0"?>
<adapters_conf id="KafkaConnector">
    <metadata_provider>
        <adapter_class>com.lightstreamer.kafka_connector.adapters.ConnectorMetadataAdapter</adapter_class>
        <param name="logging.configuration.path">log4j.properties</param>
    </metadata_provider>
    <data_provider name="QuickStart">
        <adapter_class>com.lightstreamer.kafka_connector.adapters.ConnectorDataAdapter</adapter_class>
        <param name="bootstrap.servers">{kafka}</param>
        <param name="record.consume.from">EARLIEST</param>
"""
TAIL = "    </data_provider>\n</adapters_conf>\n"
SCENARIOS = {
    1: {"item-template.ltest": "ltest", "map.{topic}.to": "item-template.ltest", "field.value": "#{VALUE}"},
    2: {
        "item-template.ltest": "ltest-#{key=KEY}",
        "map.{topic}.to": "item-template.ltest",
        "field.key": "#{KEY}",
        "field.value": "#{VALUE}",
    },
    3: {
        "item-template.jsontest": "jsontest-#{key=KEY}",
        "map.{topic}.to": "item-template.jsontest",
        "value.evaluator.type": "JSON",
        "field.key": "#{KEY}",
        "field.timestamp": "#{VALUE.timestamp}",
        "field.firstText": "#{VALUE.firstText}",
        "field.firstnumber": "#{VALUE.firstnumber}",
        "field.hobbies": "#{VALUE.hobbies[0]}",
    },
}


_SOURCE = 'adapter_set="KafkaConnector",data_adapter="QuickStart"'


def configuration(folder: Path, kafka: str, topic: str, scenario: int) -> Path:
    lines = [
        f'        <param name="{name.replace("{topic}", topic)}">{value}</param>\n'
        for name, value in SCENARIOS[scenario].items()
    ]
    path = folder / "adapters.xml"
    path.write_text(HEAD.format(kafka=kafka) + "".join(lines) + TAIL)
    return path


def person(number: int) -> bytes:
    text = "x" * 256
    found = {
        "timestamp": f"t{number}",
        "firstText": text,
        "firstnumber": number,
        "hobbies": ["chess", "golf"],
    }
    return json.dumps(found).encode()


def test_scenario_1_all_messages_to_everybody(kafka: str, tmp_path: Path) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    config = configuration(tmp_path, kafka, topic, 1)
    with PushGateway(config=config, log_dir=tmp_path) as gateway:
        address = gateway.endpoints()["gateway"]
        with PlainSession(address, "KafkaConnector") as one, PlainSession(address, "KafkaConnector") as two:
            for session in (one, two):
                assert "REQOK" in session.subscribe("ltest", "value", LS_requested_max_frequency="unfiltered")
            send(topic, b"first", b"second | 100%", b"")
            for session in (one, two):
                session.wait_for("second")
                session.wait_for("\r\nU,1,1,$")
                assert session.updates() == ["first", "second %7C 100%25", "$"]


def test_scenario_2_messages_of_one_key(kafka: str, tmp_path: Path) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    config = configuration(tmp_path, kafka, topic, 2)
    with (
        PushGateway(config=config, log_dir=tmp_path) as gateway,
        PlainSession(gateway.endpoints()["gateway"], "KafkaConnector") as session,
    ):
        session.subscribe("ltest-[key=Banana]", "key%20value", LS_requested_max_frequency="unfiltered")
        for number, key in enumerate(["Apple", "Banana", "Orange", "Banana"]):
            send(topic, str(number).encode(), key=key)
        session.wait_for("|3")
        assert session.updates() == ["Banana|1", "|3"]


def test_scenario_3_fields_of_json_and_only_what_changed(kafka: str, tmp_path: Path) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    config = configuration(tmp_path, kafka, topic, 3)
    fields = "key%20timestamp%20firstText%20firstnumber%20hobbies"
    with (
        PushGateway(config=config, log_dir=tmp_path) as gateway,
        PlainSession(gateway.endpoints()["gateway"], "KafkaConnector") as session,
    ):
        session.subscribe("jsontest-[key=Ann]", fields, LS_requested_max_frequency="unfiltered")
        send(topic, person(1), b"no json", person(2), key="Ann")
        session.wait_for("t2")
        assert session.updates() == [f"Ann|t1|{'x' * 256}|1|chess", "|t2||2|"]
        told = ask(gateway.endpoints()["monitoring"], "GET", "/metrics")[1]
        for name, count in (("read", 3), ("mapped", 2), ("failed", 1)):
            assert f'streamgauge_gateway_records_{name}_total{{process="0",{_SOURCE}}} {count}\n' in told


def test_scenario_3_with_json_patch(kafka: str, tmp_path: Path) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    config = configuration(tmp_path, kafka, topic, 2)
    settings = {"default_diff_order": ["jsonpatch"], "jsonpatch_min_length": 100}
    with (
        PushGateway(config=config, log_dir=tmp_path, settings=settings) as gateway,
        PlainSession(gateway.endpoints()["gateway"], "KafkaConnector") as session,
    ):
        session.subscribe("ltest-[key=Ann]", "value", LS_requested_max_frequency="unfiltered")
        send(topic, person(1), person(2), key="Ann")
        session.wait_for("^P")
        first, second = session.updates()
        assert json.loads(first) == json.loads(person(1))
        assert sorted(json.loads(second.removeprefix("^P")), key=lambda change: str(change["path"])) == [
            {"op": "replace", "path": "/firstnumber", "value": 2},
            {"op": "replace", "path": "/timestamp", "value": "t2"},
        ]


def test_every_process_reads_all_records(kafka: str, tmp_path: Path) -> None:
    topic, send = new_topic(kafka, partitions=2), Sender(kafka)
    config = configuration(tmp_path, kafka, topic, 1)
    with PushGateway(config=config, log_dir=tmp_path, processes=2) as gateway:
        address = gateway.endpoints()["gateway"]
        by_process: dict[str, PlainSession] = {}
        while len(by_process) < 2:
            session = PlainSession(address, "KafkaConnector")
            number = session.id.split("x")[0]
            # A request on a connection of its own may reach the other process.
            if number not in by_process and "REQOK" in session.subscribe("ltest", "value"):
                by_process[number] = session
            else:
                session.close()
        send(topic, *(str(number).encode() for number in range(20)))
        wanted = {f'read_total{{process="{number}",{_SOURCE}}} 20' for number in range(2)}
        deadline_s = time.monotonic() + DEADLINE_S
        while wanted:
            assert time.monotonic() < deadline_s, f"never seen: {wanted}"
            told = ask(gateway.endpoints()["monitoring"], "GET", "/metrics")[1]
            wanted = {line for line in wanted if line not in told}
        for session in by_process.values():
            with session:
                session.wait_for("\r\nU,1,1,")


def test_a_topic_that_is_not_there_ends_the_subscription(kafka: str, tmp_path: Path) -> None:
    config = configuration(tmp_path, kafka, "nobody-made-this", 1)
    with (
        PushGateway(config=config, log_dir=tmp_path) as gateway,
        PlainSession(gateway.endpoints()["gateway"], "KafkaConnector") as session,
    ):
        assert "REQOK" in session.subscribe("ltest", "value")
        session.wait_for("UNSUB,1")
        log = (tmp_path / "gateway.log").read_text()
    assert f"connection QuickStart: there is no topic nobody-made-this at {kafka}" in log


def test_every_record_after_an_answer_by_http_comes_from_latest_on(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    send(topic, b"before")
    with (
        running(sources={"K": source_of(kafka, topic)}) as server,
        PlainSession(server.address, ADAPTER_SET) as session,
    ):
        more = {"LS_data_adapter": "K", "LS_requested_max_frequency": "unfiltered"}
        assert session.subscribe("i", "v", **more) == "REQOK,1\r\n"
        send(topic, *(str(number).encode() for number in range(50)))
        session.wait_for("U,1,1,49\r\n")
        assert session.updates() == [str(number) for number in range(50)]


def test_every_record_after_the_subok_comes_from_latest_on(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    send(topic, b"before")
    with running(sources={"K": source_of(kafka, topic)}) as server, WebSocket(server) as client:
        client.open_session()
        client.send(
            "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i&LS_schema=v"
            "&LS_data_adapter=K&LS_requested_max_frequency=unfiltered"
        )
        client.until("SUBOK")
        send(topic, *(str(number).encode() for number in range(50)))
        updates = [client.until("U,")[-1] for _ in range(50)]
    assert updates == [f"U,1,1,{number}" for number in range(50)]
