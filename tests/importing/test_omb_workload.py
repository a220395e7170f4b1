from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import runs_in
from streamgauge.core.verdicts import Integrity
from streamgauge.importing.omb_workload import is_omb_workload, omb_run
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.results import results_document
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload
from tests.cli.streamgauge_command import Streamgauge

WORKLOAD = """\
name: 2 topics / 16 partitions / 1kb
topics: 2
partitionsPerTopic: 16
keyDistributor: "NO_KEY"
messageSize: 1024
payloadFile: "payload/payload-1Kb.data"
subscriptionsPerTopic: 1
consumerPerSubscription: 3
producersPerTopic: 2
producerRate: 50000
consumerBacklogSizeGB: 0
testDurationMinutes: 15
"""
DRIVER = """\
name: Kafka
driverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver
replicationFactor: 3
topicConfig: |
  min.insync.replicas=2
commonConfig: |
  bootstrap.servers=localhost:9092
producerConfig: |
  acks=all
  linger.ms=1
  batch.size=131072
  buffer.memory=33554432
consumerConfig: |
  auto.offset.reset=earliest
  enable.auto.commit=false
"""
USUAL: dict[str, Any] = {"name": "kafka", "driver": "kafka_confluent", "system": {"brokers": 1}}
SOURCE = Path("omb.yaml")


def test_a_workload_is_known_by_its_keys() -> None:
    assert is_omb_workload(yaml.safe_load(WORKLOAD))
    assert not is_omb_workload({"targets": [], "load": {"messages": 1}})
    assert not is_omb_workload({"topics": 1})


def test_it_becomes_a_workload_of_ours() -> None:
    found = omb_run(yaml.safe_load(WORKLOAD), SOURCE, None, USUAL)
    load = parse(Workload, found.content, "omb").model_dump(mode="json")["load"]
    assert (load["producers"], load["consumers"], load["duration"]) == (4, 6, 900.0)
    assert (load["rate"], load["warm_up_messages"]) == (50000.0, "auto")
    assert (load["topics"]["count"], load["topics"]["partitions"]) == (2, 16)
    assert load["message"]["size"] == 1024
    assert any("payloadFile" in note for note in found.notes)
    assert any("warmupDurationMinutes" in note for note in found.notes)


def test_a_driver_file_says_where_and_how() -> None:
    found = omb_run(yaml.safe_load(WORKLOAD), SOURCE, yaml.safe_load(DRIVER), USUAL)
    workload = parse(Workload, found.content, "omb")
    [target] = workload.targets
    assert target.settings == {"bootstrap": "localhost:9092"}
    assert target.system is None
    assert target.producer_client["queue.buffering.max.kbytes"] == "32768"
    assert target.producer_client["linger.ms"] == "1"
    load = workload.model_dump(mode="json")["load"]
    assert (load["acks"], load["topics"]["replicas"]) == ("all", 3)
    assert load["topics"]["config"] == {"min.insync.replicas": "2"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"subscriptionsPerTopic": 2}, "subscriptionsPerTopic 2: one subscription is run"),
        ({"producerRate": 0}, "producerRate 0"),
        ({"consumerBacklogSizeGB": 10}, "consumerBacklogSizeGB"),
        ({"keyDistributor": "KEY_ROUND_ROBIN"}, "there are 100 keys"),
        ({"backlogDrainRatio": 0.5}, "backlogDrainRatio: no backlog is built up here"),
        ({"logIntervalMillis": 1000}, "logIntervalMillis"),
        ({"useRandomizedPayloads": True, "randomizedPayloadPoolSize": 9}, "randomizedPayloadPoolSize 9: no"),
        ({"useRandomizedPayloads": True}, "randomBytesRatio 0: messages are as compressible as they can be"),
    ],
)
def test_what_has_no_equivalent_is_said_in_a_line(fields: dict[str, Any], said: str) -> None:
    found = omb_run({**yaml.safe_load(WORKLOAD), **fields}, SOURCE, None, USUAL)
    parse(Workload, found.content, "omb")
    assert [note for note in found.notes if note.startswith("omb.yaml: ") and said in note]


@pytest.mark.parametrize(("ratio", "fold"), [(0.25, 4.0), (1, 0.0), (0.001, 100.0), (0, 100.0)])
def test_random_payloads_compress_as_asked(ratio: float, fold: float) -> None:
    fields = {"useRandomizedPayloads": True, "randomBytesRatio": ratio}
    found = omb_run({**yaml.safe_load(WORKLOAD), **fields}, SOURCE, None, USUAL)
    parse(Workload, found.content, "omb")
    assert found.content["load"]["message"]["compressibility"] == fold


def test_what_only_javas_client_knows_is_left_out_with_a_line() -> None:
    driver = {**yaml.safe_load(DRIVER), "commonConfig": "default.api.timeout.ms=600000"}
    found = omb_run(yaml.safe_load(WORKLOAD), SOURCE, driver, USUAL)
    assert "client" not in found.content["targets"][0]
    assert any("default.api.timeout.ms: left out" in note for note in found.notes)


@pytest.mark.parametrize(
    ("workload", "driver", "said"),
    [
        ({"nonsense": 1}, None, "nonsense: unknown field"),
        ({"topics": "many"}, None, "topics: must be a whole number"),
        ({"testDurationMinutes": "long"}, None, "testDurationMinutes: must be a number of minutes"),
        ({"useRandomizedPayloads": True, "randomBytesRatio": 2}, None, "must be a number from 0 to 1"),
        ({"keyDistributor": "X"}, None, "keyDistributor: 'X' is not known"),
        ({}, {"driverClass": "PulsarBenchmarkDriver"}, "only OMB's Kafka driver"),
        ({}, {**yaml.safe_load(DRIVER), "extra": 1}, "extra: unknown field"),
        ({}, {**yaml.safe_load(DRIVER), "commonConfig": "nothing"}, "is not name=value"),
    ],
)
def test_what_cannot_be_meant_is_refused(workload: dict[str, Any], driver: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        omb_run({**yaml.safe_load(WORKLOAD), **workload}, SOURCE, driver, USUAL)


BACKLOG = """\
# All fields that OMB's workloads of today have.
name: short / 1 topic / 4 partitions / 200b
topics: 1
partitionsPerTopic: 4
keyDistributor: "KEY_ROUND_ROBIN"
messageSize: 200
useRandomizedPayloads: true
randomBytesRatio: 0.5
randomizedPayloadPoolSize: 1000
payloadFile: ""
subscriptionsPerTopic: 1
consumerPerSubscription: 1
producersPerTopic: 2
producerRate: 500
consumerBacklogSizeGB: 0
backlogDrainRatio: 1.0
testDurationMinutes: 0.1
warmupDurationMinutes: 0
logIntervalMillis: 10000
"""
HERE = """\
name: Kafka
driverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver
replicationFactor: 1
reset: true
topicConfig: |
  min.insync.replicas=1
commonConfig: |
  bootstrap.servers={kafka}
  default.api.timeout.ms=600000
producerConfig: |
  acks=all
  linger.ms=1
  batch.size=1048576
consumerConfig: |
  auto.offset.reset=earliest
  enable.auto.commit=false
  max.partition.fetch.bytes=10485760
"""


@pytest.mark.broker
@pytest.mark.spark
def test_a_workload_with_every_field_of_today_is_measured(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    workload, driver = tmp_path / "workload.yaml", tmp_path / "kafka.yaml"
    workload.write_text(BACKLOG)
    driver.write_text(HERE.format(kafka=kafka))
    done = run_here("run", workload, "--omb-driver", driver, "--out", tmp_path / "runs")
    [run] = runs_in(str(tmp_path / "runs"))
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    [case] = document.cases
    assert case.integrity.verdict is Integrity.OK, done.stderr
    assert case.accounting.received == case.accounting.sent
    assert case.accounting.sent == pytest.approx(3000, rel=0.05)
    assert case.parameters.producers == 2


def test_run_takes_both_files_as_they_are(tmp_path: Path) -> None:
    workload, driver = tmp_path / "workload.yaml", tmp_path / "kafka.yaml"
    workload.write_text(WORKLOAD)
    driver.write_text(DRIVER)
    said = CliRunner().invoke(app, ["run", str(workload), "--omb-driver", str(driver), "--print-workload"])
    assert said.exit_code == 0, said.output
    content = yaml.safe_load(said.stdout)
    assert content["name"] == "2-topics-16-partitions-1kb"
    assert content["targets"][0]["settings"] == {"bootstrap": "localhost:9092"}
    ours = tmp_path / "ours.yaml"
    ours.write_text(said.stdout)
    refused = CliRunner().invoke(app, ["run", str(ours), "--omb-driver", str(driver)])
    assert isinstance(refused.exception, BadInput)
