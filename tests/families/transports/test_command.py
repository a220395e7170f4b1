"""`streamgauge transports`: what its flags make, and real runs through the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, command, in_process, one_run


def workload(*flags: str) -> dict[str, Any]:
    done = in_process("transports", *flags, "--print-workload")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found


def refused(*flags: str) -> str:
    done = in_process("transports", *flags, "--print-workload")
    assert done.returncode == 2
    return done.stderr


def test_the_usual_ladder_lasts_at_least_five_seconds_a_step() -> None:
    made = workload()
    assert [target["name"] for target in made["targets"]] == ["harness", "kafka", "aeron-ipc", "aeron-udp"]
    assert [case["rate"] for case in made["cases"]] == [1000, 5000, 10_000, 25_000, 50_000, 100_000]
    assert [case["messages"] for case in made["cases"]][-3:] == [125_000, 250_000, 500_000]
    assert {case["warm_up_messages"] for case in made["cases"]} == {"auto"}
    assert made["load"]["engine"] == "jvm"
    assert made["load"]["message"] == {"size": {"protobuf": "order"}}


def test_a_transport_without_java_makes_it_the_engine_python() -> None:
    made = workload("--transport", "kafka,zeromq", "--no-harness")
    assert made["load"].get("engine", "python") == "python"
    assert [target["driver"] for target in made["targets"]] == ["kafka_confluent", "zeromq"]
    assert {case["warm_up_messages"] for case in made["cases"]} == {"auto"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--rps", "100k", "--iterations", "100k"], "last 1 s, which is too short to tell anything"),
        (["--rps", "1k", "--seconds", "1s"], "too short to tell anything"),
        (["--rps", "1k", "--seconds", "9s", "--iterations", "9k"], "both say how long"),
        (["--rps", "fast"], "--rate fast:"),
        (["--rps", "0"], "rates above 0"),
        (["--warm-up", "some"], "--warm-up some:"),
        (
            ["--transport", "kafka,carrier-pigeon"],
            "carrier-pigeon: there is no such transport; allowed: aeron,",
        ),
        (["--transport", ","], "--transport: names none"),
    ],
)
def test_what_makes_no_sense_is_refused(flags: list[str], said: str) -> None:
    assert said in refused(*flags)


def test_a_short_step_can_be_forced() -> None:
    made = workload("--rps", "100k", "--iterations", "100k", "--force")
    assert made["cases"][0]["messages"] == 100_000


def test_a_transport_with_a_wrong_key_is_left_out(tmp_path: Path) -> None:
    env = tmp_path / "test.env"
    env.write_text("transportLoadTest.maxRpsLimit=2000\nkafka.producers.linger=1\n")
    done = in_process("transports", "--env-file", env, "--print-workload")
    assert "kafka is left out" in done.stderr
    assert "did you mean kafka.producers.lingerMs?" in done.stderr
    made = yaml.safe_load(done.stdout)
    assert [target["name"] for target in made["targets"]] == ["harness", "aeron-ipc", "aeron-udp"]
    assert [case["rate"] for case in made["cases"]] == [2000]


def test_the_c_media_driver_is_a_choice_like_any() -> None:
    made = workload("--transport", "aeron", "--aeron-media-driver", "/opt/aeronmd", "--no-harness")
    assert {target["system"]["executable"] for target in made["targets"]} == {"/opt/aeronmd"}
    plain = workload("--transport", "aeron", "--no-harness")
    assert not any("executable" in target["system"] for target in plain["targets"])


def test_a_settings_file_reaches_the_clients(tmp_path: Path) -> None:
    env = tmp_path / "test.env"
    env.write_text("kafka.producers.lingerMs=7\nkafka.consumers.maxPollRecords=1\nkafka.producers.acks=1\n")
    made = workload("--transport", "kafka", "--env-file", str(env))
    assert made["targets"][1]["settings"]["linger_ms"] == 7
    assert made["targets"][1]["consumer_client"]["max.poll.records"] == 1
    assert made["load"]["acks"] == "1"


@pytest.fixture(scope="module")
def run(kafka: str, run_here: Streamgauge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    env = out.with_name(f"{out.name}.env")
    env.write_text(f"kafka.bootstrapServers={kafka}\n")
    flags = ["--rps", "500", "--iterations", "500", "--warm-up", "100", "--force", "--out", str(out)]
    done = run_here("transports", "--transport", "kafka,aeron", "--env-file", env, *flags)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Not alike: kafka (durable) and aeron-ipc, aeron-udp (nothing is kept)" in done.stdout
    return one_run(out)


@pytest.mark.broker
@pytest.mark.spark
class TestInTheJvm:
    def test_every_cell_is_filled_and_nothing_is_lost(self, run: Path) -> None:
        document = json.loads((run / "results" / "results.json").read_text())
        Draft202012Validator(results_schema()).validate(document)
        part = document["transports"]
        assert part["engine"] == "jvm"
        assert [row["transport"] for row in part["rows"]] == ["kafka", "aeron-ipc", "aeron-udp"]
        for row in part["rows"]:
            assert (row["status"], row["messages"], row["received"], row["lost"]) == ("ok", 500, 500, 0)
            assert 0 < row["p25_ms"] <= row["p50_ms"] <= row["p99_9_ms"] <= row["max_ms"]
            assert 0 < row["harness_p50_ms"] <= row["harness_p99_ms"]

    def test_what_each_transport_promises_is_said(self, run: Path) -> None:
        part = json.loads((run / "results" / "results.json").read_text())["transports"]
        promises = {about["transport"]: about["promises"] for about in part["transports"]}
        assert promises["kafka"] == {"durable": True, "ordered": True, "acked": True}
        assert promises["aeron-udp"] == {"durable": False, "ordered": True, "acked": False}

    def test_the_settings_that_each_client_had_are_recorded(self, run: Path) -> None:
        """All of Kafka's, not only those that were set: defaults differ from version to version."""
        clients = json.loads((run / "environment.json").read_text())["clients"]
        producer, consumer = clients["kafka"]["producer"], clients["kafka"]["consumer"]
        assert (producer["linger.ms"], producer["acks"], producer["max.block.ms"]) == ("0", "-1", "15000")
        assert producer["compression.type"] == "none"
        assert int(consumer["max.poll.records"]) > 0
        assert {"batch.size", "buffer.memory"} <= set(producer)
        assert {"fetch.min.bytes", "fetch.max.wait.ms"} <= set(consumer)
        assert clients["aeron-ipc"]["producer"]["channel"] == "aeron:ipc"

    def test_table_and_histograms_are_written(self, run: Path) -> None:
        report = run / "report"
        rows = list(csv.DictReader((report / "csv" / "transports.csv").read_text().splitlines()))
        assert [row["transport"] for row in rows] == ["kafka", "aeron-ipc", "aeron-udp"]
        markdown = (report / "report.md").read_text()
        assert markdown.count("| 0.5K |") == 0 < markdown.count("| 500 |")
        files = sorted(path.name for path in (report / "histograms").iterdir())
        assert len(files) == 8
        assert "kafka-500-002.hlog" in files


LOSING = {
    # Aeron's own: every fiftieth packet that the receiver's socket gives is thrown away.
    "aeron.ReceiveChannelEndpoint.supplier": "io.aeron.driver.ext.DebugReceiveChannelEndpointSupplier",
    "aeron.debug.receive.data.loss.rate": 0.02,
    "aeron.debug.receive.data.loss.seed": 4711,
}


@pytest.fixture(scope="module")
def streams(
    redis_is_there: None,
    rabbitmq_is_there: None,
    run_here: Streamgauge,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, str]:
    """A run over Redis, RabbitMQ, and an Aeron that loses packets and does not ask for them again."""
    out = tmp_path_factory.mktemp("runs")
    flags = ["--rps", "1k", "--iterations", "2k", "--warm-up", "200", "--force", "--no-harness"]
    made = workload("--transport", "redis,rabbitmq,aeron-udp", *flags)
    made["targets"][2]["settings"]["reliable"] = False
    made["targets"][2]["system"]["properties"] = LOSING
    file = out.parent / f"{out.name}.yaml"
    file.write_text(yaml.safe_dump(made))
    done = run_here("run", file, "--out", out)
    assert done.returncode == 1, "messages were lost\n" + done.stderr + done.stdout
    return one_run(out), done.stdout


@pytest.mark.spark
class TestStreams:
    def test_streams_lose_nothing_and_say_what_an_ack_is_worth(self, streams: tuple[Path, str]) -> None:
        run, printed = streams
        part = json.loads((run / "results" / "results.json").read_text())["transports"]
        rows = {row["transport"]: row for row in part["rows"]}
        for name in ("redis", "rabbitmq"):
            row = rows[name]
            assert (row["status"], row["messages"], row["received"], row["lost"]) == ("ok", 2000, 2000, 0)
            assert 0 < row["p50_ms"] <= row["p99_9_ms"] <= row["max_ms"]
        promises = {about["transport"]: about["promises"] for about in part["transports"]}
        assert promises["redis"] == promises["rabbitmq"] == {"durable": True, "ordered": True, "acked": True}
        assert "synced once a second (appendfsync everysec)" in printed
        assert "Not alike: redis, rabbitmq (durable) and aeron-udp (nothing is kept)" in printed

    def test_what_aeron_loses_over_udp_is_counted_and_said(self, streams: tuple[Path, str]) -> None:
        run, printed = streams
        document = json.loads((run / "results" / "results.json").read_text())
        row = next(row for row in document["transports"]["rows"] if row["transport"] == "aeron-udp")
        assert row["messages"] == 2000
        assert 0 < row["lost"] == 2000 - row["received"] < 400
        assert row["status"] != "ok"
        rows = csv.DictReader((run / "report" / "csv" / "transports.csv").read_text().splitlines())
        assert next(r["lost"] for r in rows if r["transport"] == "aeron-udp") == str(row["lost"])
        share = f"{row['lost']} of 2,000 measured messages never arrived"
        assert f"aeron-udp at 1K: {share}" in printed.replace("\n", " ")
        assert "acknowledged messages lost" not in printed


@pytest.mark.spark
def test_a_transport_that_breaks_or_is_not_installed_does_not_end_the_run(tmp_path: Path) -> None:
    """A media driver is killed in the first of its two cases; nats-py is not there."""
    out = tmp_path / "runs"
    out.mkdir()
    (tmp_path / "nats.py").write_text("raise ImportError('No module named nats')")
    # Six seconds in which to kill it; the second cases need not be as long.
    flags = ["--rps", "1k,3k", "--iterations", "6k", "--force", "--warm-up", "100", "--no-harness"]
    process = subprocess.Popen(
        command(
            "transports", "--transport", "aeron-ipc,nats,zeromq", "--engine", "python", *flags, "--out", out
        ),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        begun = time.monotonic()
        while not (pid := _media_driver_in_use(out)):
            assert process.poll() is None
            assert time.monotonic() < begun + 120
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        while _cases(out)["001"]["status"] == "running":
            assert time.monotonic() < killed + 10, "the case must end within ten seconds"
            time.sleep(0.05)
        printed, _ = process.communicate(timeout=200)
    finally:
        process.kill()
    cases = _cases(out)
    found = {number: case["status"] for number, case in cases.items()}
    broken, missing, fine = ("001",), ("003", "004"), ("002", "005", "006")
    assert {number: found[number] for number in (*broken, *missing)} == dict.fromkeys(
        (*broken, *missing), "failed"
    )
    assert {number: found[number] for number in fine} == dict.fromkeys(fine, "ok"), cases
    assert "media driver ended: killed by SIGKILL" in cases["001"]["reason"]
    assert "pip install 'streamgauge[nats]'" in cases["003"]["reason"]
    assert process.returncode == 1, printed


def _cases(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((one_run(out) / "status.json").read_text())["cases"]
    return found


def _media_driver_in_use(out: Path) -> int | None:
    """Its process id, once orders go through it."""
    for folder in out.iterdir():
        live = folder / "live" / "consumer-0.json"
        if live.exists() and json.loads(live.read_text()).get("messages", 0) > 500:
            systems = json.loads((folder / "environment.json").read_text())["systems"]
            return int(systems["aeron-ipc"]["pid"])
    return None
