"""`streamgauge compare` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from streamgauge.report.schema import results_schema
from tests.cli.streamgauge_command import Streamgauge, agents_and_brokers, command, in_process, one_run
from tests.launch.test_run_cycle import end
from tests.waiting import wait_for

SIMULATED = """
name: {name}
driver: simulated
settings:
  seed: {seed}
  latency: {{law: lognormal, median_ms: {ms}, sigma: 0.1}}
  send_ns: {ns}
  read_ns: {ns}
  connect_ms: {ms}
"""


def printed(*arguments: str | Path) -> dict[str, Any]:
    done = in_process("compare", *arguments, "--print-workload")
    assert done.returncode == 0, done.stderr
    workload: dict[str, Any] = yaml.safe_load(done.stdout)
    return workload


def results(run: Path) -> dict[str, Any]:
    done = in_process("results", run, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(results_schema()).validate(document)
    return document


def test_flags_only_make_a_workload(tmp_path: Path) -> None:
    workload = printed(
        *("--a", "kafka_java", "--b", "kafka_confluent", "--topic-prefix", "my", "--length", "10,1kB"),
        *(
            "--messages",
            "10,1k",
            "--repeat",
            "30",
            "--until-decided",
            "--time-limit",
            "10m",
            "--partitions",
            "3",
            "--linger-ms",
            "7",
            "--batch-size",
            "1MiB",
        ),
        *(
            "--max-in-flight",
            "2",
            "--send-buffer",
            "64KiB",
            "--receive-buffer",
            "32KiB",
            "--fetch-min-bytes",
            "9",
        ),
        *(
            "--acks",
            "1",
            "--check-on-consume",
            "--leave-topics",
            "--burst-length",
            "5",
            "--burst-interval",
            "20ms",
        ),
        *("--preset", "seed", "--engine", "jvm", "--mix-engines", "--process", "shared", "--brokers", "3"),
    )
    assert [target["driver"] for target in workload["targets"]] == ["kafka_java", "kafka_confluent"]
    assert [target["system"]["brokers"] for target in workload["targets"]] == [3, 3]
    assert workload["comparison"] == {
        "lengths": [10, 1000],
        "messages": [10, 1000],
        "repeat": 30,
        "until_decided": True,
        "time_limit": 600.0,
        "topics": {"name": "my", "partitions": 3, "keep": True, "own_names": False},
        "preset": "seed",
        "settings": {
            "linger_ms": 7,
            "batch_size": 1048576,
            "max_in_flight": 2,
            "send_buffer": 65536,
            "receive_buffer": 32768,
            "fetch_min_bytes": 9,
        },
        "acks": "1",
        "check_on_consume": True,
        "bursts": {"length": 5, "interval": 0.02},
        "engine": "jvm",
        "mix_engines": True,
        "process": "shared",
    }


def test_a_printed_workload_runs_as_the_same(tmp_path: Path) -> None:
    text = in_process(
        "compare", "--a", "simulated", "--b", "simulated", "--produce-only", "--print-workload"
    ).stdout
    assert "produce_only: true" in text
    (tmp_path / "w.yaml").write_text(text)
    assert in_process("run", tmp_path / "w.yaml", "--print-workload").stdout == text


def test_one_driver_on_both_sides_gets_two_names() -> None:
    names = [target["name"] for target in printed("--a", "kafka_aio", "--b", "kafka_aio")["targets"]]
    assert names == ["kafka_aio", "kafka_aio-b"]


def test_an_address_is_for_both_and_a_target_file_keeps_its_settings(tmp_path: Path) -> None:
    file = tmp_path / "java.yaml"
    file.write_text("name: plain\ndriver: kafka_java\nsettings: {crossing: record}\n")
    workload = printed("--a", file, "--b", "kafka_confluent", "--bootstrap", "127.0.0.1:1")
    assert [target["settings"] for target in workload["targets"]] == [
        {"crossing": "record", "bootstrap": "127.0.0.1:1"},
        {"bootstrap": "127.0.0.1:1"},
    ]


def test_who_needs_a_cluster_is_what_its_driver_is_not_what_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver of Kafka by any name, and one of something else whose name begins with kafka."""
    from streamgauge.core import entry_points
    from streamgauge.drivers.registry import GROUP

    really = entry_points.points_of
    known = really(GROUP)
    renamed = {"rdkafka": known["kafka_confluent"], "kafkaesque": known["simulated"]}
    monkeypatch.setattr(
        "streamgauge.drivers.registry.points_of",
        lambda group: {**known, **renamed} if group == GROUP else really(group),
    )
    kafka, other = (printed("--a", name, "--b", name)["targets"][0] for name in renamed)
    assert "system" in kafka
    assert "system" not in other


def test_an_address_in_the_librarys_own_words_is_one(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("name: t\ndriver: kafka_confluent\nclient: {bootstrap.servers: '127.0.0.1:1'}\n")
    assert not any("system" in target for target in printed("--a", file, "--b", file)["targets"])


def test_round_trips_have_fewer_messages_unless_told_otherwise() -> None:
    assert printed("--a", "kafka_aio", "--b", "kafka_java", "--round-trip")["comparison"]["messages"] == [
        10,
        100,
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--a", "telepathy", "--b", "simulated"], "there is no driver 'telepathy'; allowed: "),
        (["--a", "none.yaml", "--b", "simulated"], "--a none.yaml: no such file"),
        (
            ["--a", "simulated", "--b", "simulated", "--length", "ten"],
            "comparison.lengths.0: 'ten' is not a size",
        ),
        (["--a", "simulated", "--b", "simulated", "--messages", ""], "comparison.messages: has no values"),
        (["--a", "simulated", "--b", "simulated", "--repeat", "0"], "comparison.repeat"),
        (["--a", "simulated", "--b", "kafka_confluent"], "the same `system`"),
        (
            ["--a", "kafka_aio", "--b", "kafka_aio", "--bootstrap", "h:1", "--brokers", "1"],
            "--brokers is for the embedded Kafka",
        ),
        (
            ["--a", "kafka_java", "--b", "kafka_confluent", "--bootstrap", "h:1", "--engine", "jvm"],
            "kafka_confluent has no timed loops of the engine jvm",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = in_process("compare", *arguments, "--out", tmp_path, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_swapping_a_and_b_inverts_every_verdict(run_here: Streamgauge, tmp_path: Path) -> None:
    for name, seed, factor in (("quick", 1, 1), ("slow", 2, 2)):
        text = SIMULATED.format(name=name, seed=seed, ms=2 * factor, ns=1000 * factor)
        (tmp_path / f"{name}.yaml").write_text(text)
    # Times of this driver are computed: there is nothing to warm up, which would take longer than the rest.
    flags = ("--length", "10", "--messages", "10", "--repeat", "9", "--warm-up-messages", "10")
    verdicts, ratios = {}, {}
    for order in (("quick", "slow"), ("slow", "quick")):
        a, b = (tmp_path / f"{name}.yaml" for name in order)
        out = tmp_path / order[0]
        done = run_here("compare", "--a", a, "--b", b, *flags, "--out", out)
        assert done.returncode == 0, done.stdout + done.stderr
        document = results(one_run(out))
        rows = document["comparisons"]
        verdicts[order[0]] = [row["verdict"] for row in rows]
        ratios[order[0]] = [row["ratio_percent"]["median"] for row in rows]
        assert len(rows) == 2 * 2
        assert not any(row["is_tainted"] for row in rows)
    assert verdicts == {"quick": ["A faster"] * 4, "slow": ["B faster"] * 4}
    assert ratios["quick"] == pytest.approx([50] * 4, rel=0.15)
    assert ratios["slow"] == pytest.approx([200] * 4, rel=0.15)
    # Every stage again, from the files of the one before.
    run = one_run(tmp_path / "slow")
    before = without_stages(run)
    for path in (run / "results" / "results.json", run / "report" / "index.html"):
        path.unlink()
    assert run_here("analyze", run).returncode == 0
    assert in_process("report", run).returncode == 0
    assert without_stages(run) == before
    assert (
        "NumPackets;Length;slowProd;slowCons;quickProd;quickCons"
        in (run / "report" / "csv" / "repetitions-warm.csv").read_text()
    )
    assert "ok" in in_process("runs", "--out", tmp_path / "slow").stdout


def without_stages(run: Path) -> dict[str, Any]:
    """The document but for how long the stages of a run took, which goes on growing."""
    document: dict[str, Any] = json.loads((run / "results" / "results.json").read_text())
    del document["stages_s"]
    return document


def _turns(live: Path) -> int:
    completed: int = json.loads(live.read_text())["completed"]
    return completed


@pytest.mark.spark
def test_ctrl_c_keeps_what_was_compared_and_leaves_nothing_running(
    run_here: Streamgauge, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(SIMULATED.format(name="one", seed=1, ms=2, ns=1000))
    out = tmp_path / "runs"
    process = subprocess.Popen(
        command(
            *("compare", "--a", tmp_path / "one.yaml", "--b", tmp_path / "one.yaml", "--out", out),
            *("--length", "10", "--messages", "10,20", "--repeat", "100000", "--warm-up-messages", "10"),
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: [1 for file in out.glob("*/live/referee-0.json") if _turns(file) > 12])
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
    finally:
        end(process)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    run = one_run(out)
    wait_for(lambda: not agents_and_brokers(run), 20)
    assert run_here("analyze", run).returncode == 0
    rows = results(run)["comparisons"]
    assert {row["status"] for row in rows} == {"partial"}
    assert rows[0]["a"]["count"] > 0


@pytest.mark.broker
@pytest.mark.spark
def test_java_against_librdkafka_on_a_real_broker(kafka: str, run_here: Streamgauge, tmp_path: Path) -> None:
    """Every cell is judged, no message is missing, and calls into Java are counted."""
    done = run_here(
        *("compare", "--a", "kafka_java", "--b", "kafka_confluent", "--bootstrap", kafka, "--out", tmp_path),
        *("--length", "10,2000", "--messages", "20", "--repeat", "6", "--check-on-consume"),
        *("--topic-prefix", f"cmp.{tmp_path.name}"),
        # Less than it takes to be sure of rest.
        *("--warm-up-limit", "2s"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = one_run(tmp_path)
    document = results(run)
    warm_ups = document["comparison"]["warm_up"]
    assert [(each["side"], each["ended"]) for each in warm_ups] == [
        (side, "limit") for side in ("a", "b", "control")
    ]
    for each in warm_ups:
        assert each["seconds"] >= 2
        assert {name: 5000 * len(times) for name, times in each["blocks_us"].items()} == {
            "produce": each["messages"],
            "consume": each["messages"],
        }
    assert document["status"] == "ok"
    for row in document["comparisons"]:
        never = [cause["about"] for cause in row["validity"]["causes"] if cause["code"] == "never_settled"]
        assert never == ["a", "b", "control"]
        assert row["verdict"] in ("A faster", "B faster", "equivalent", "inconclusive")
        assert row["interval_percent"] is not None
        counts = row["accounting"]
        assert (counts["expected"], counts["seen"], counts["missing"]) == (360, 360, 0)
        assert counts["corrupt"] == (0 if row["operation"] == "consume" else None)
        assert row["jni_calls_per_message"]["a"] > 0
        assert row["jni_calls_per_message"]["b"] is None
        assert row["crossings_per_message"]["a"] > 0
        assert row["cpu_us_per_message"]["b"] > 0
    shared = {s["name"]: s for s in document["comparison"]["settings"] if s["is_shared"]}
    assert shared["linger_ms"]["a"]["value"] == shared["linger_ms"]["b"]["value"] == "5"
    assert shared["max_in_flight"]["a"]["value"] == shared["max_in_flight"]["b"]["value"] == "5"
    # Cold counts what a client needs to be made.
    by_place = {(r["operation"], r["temperature"], r["length"]): r for r in document["comparisons"]}
    for side in ("a", "b"):
        cold, warm = (by_place["produce", t, 10][side]["median_us"] for t in ("cold", "warm"))
        assert cold > warm
