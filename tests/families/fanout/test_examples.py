"""The scenarios' configurations in docs/examples: each loads and is planned, one runs as it is."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.scenario_messages import PEOPLE
from streamgauge.families.fanout.section import SCENARIOS
from streamgauge.gateway.connector.adapter_sets import make_adapter_set
from streamgauge.gateway.connector.configuration import load_configuration
from streamgauge.gateway.connector.lightstreamer_conf import read_lightstreamer_conf
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import load_workload
from streamgauge.systems.push_gateway import PushGateway
from tests.cli.streamgauge_command import command, in_process
from tests.gateway.server.python_client import Followed, connected

EXAMPLES = Path(__file__).parents[3] / "docs/examples/fanout"
FOLDERS = ["scenario1", "scenario2", "scenario3", "scenario3-jsonpatch"]


def test_there_is_one_for_every_scenario_of_the_seed() -> None:
    assert sorted(path.name for path in EXAMPLES.iterdir()) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_is_a_gateways_configuration_and_a_workload(folder: str) -> None:
    configuration = load_configuration(EXAMPLES / folder / "adapters.xml")
    assert configuration.adapter_set == "KafkaConnector"
    make_adapter_set(configuration)
    plan = make_plan(load_workload(EXAMPLES / folder / "workload.yaml"), "run")
    points = [as_work(case.work, FanoutPoint) for case in plan.cases]
    assert {point.via for point in points} == {"kafka-groups", "kafka-standalone", "gateway"}
    [scenario] = {point.scenario for point in points}
    [connection] = configuration.connections.values()
    asked = SCENARIOS[scenario].fields
    assert asked.items() <= dict(fields_of(EXAMPLES / folder)).items()
    assert connection.bootstrap_servers == "localhost:9092"
    if SCENARIOS[scenario].diff:
        told = read_lightstreamer_conf(EXAMPLES / folder / "lightstreamer_conf.xml")
        assert told == {"default_diff_order": SCENARIOS[scenario].diff, "jsonpatch_min_length": "500"}


def fields_of(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "adapters.xml").read_text().splitlines()
    named = [line.strip().removeprefix('<param name="field.').removesuffix("</param>") for line in lines]
    return [(name, value) for name, _, value in (line.partition('">') for line in named) if value]


@dataclass(frozen=True)
class Place:
    address: str


@pytest.mark.broker
def test_scenario_3_runs_as_it_is_with_clients_by_hand_and_one_of_lightstreamers_own(
    kafka: str, tmp_path: Path
) -> None:
    topic = "test-examples-LTest"
    given = (EXAMPLES / "scenario3/adapters.xml").read_text()
    config = tmp_path / "adapters.xml"
    config.write_text(given.replace("localhost:9092", kafka).replace("map.LTest.to", f"map.{topic}.to"))
    made = in_process(
        "generate", kafka, topic, "1", "50", "64", "complex", "--create-topic", "--duration", "50ms"
    )
    assert f"made {topic}: 1 partition" in made.stderr
    with PushGateway(config=config, log_dir=tmp_path) as gateway:
        address = gateway.endpoints()["gateway"]
        items = [f"jsontest-[key={name}]" for name in PEOPLE]
        official = Followed("MERGE", items, ["key", "firstnumber"], MaxFrequency="unfiltered")
        official.subscription.setDataAdapter("JsonStart")
        with connected(Place(address), adapter_set="KafkaConnector") as client:
            client.follow(official).wait_for("subscribed")
            reading = subprocess.Popen(
                command(
                    *("consume", address, topic, "40", "complex", "--data-adapter", "JsonStart"),
                    *("--mode", "merge", "--duration", "8s"),
                ),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert reading.stderr is not None
            assert "40 clients read" in reading.stderr.readline()
            sent = in_process("generate", kafka, topic, "10", "50", "64", "complex", "--duration", "1s")
            assert "200 messages sent, 200 delivered" in sent.stdout, sent.stderr
            said, complaints = reading.communicate(timeout=60)
            assert reading.returncode == 0, complaints
            assert said.splitlines()[-1] == "200 updates to 40 clients", "one client for each key"
            assert "Number of samples: 200" in said
            followed = official.wait_for_updates(200)
            assert len(followed) == 200
            assert {key for key, _ in followed} <= set(PEOPLE)


def test_what_is_no_mode_is_said_before_anybody_is_asked() -> None:
    done = in_process("consume", "http://127.0.0.1:1", "t", "1", "base", "--mode", "sideways")
    assert done.returncode == 2
    assert "MERGE" in done.stderr
    kafkas = in_process("consume", "127.0.0.1:1", "t", "1", "base", "--data-adapter", "x")
    assert kafkas.returncode == 2
    assert "are a gateway's" in kafkas.stderr
