from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.importing.figures import NotThisFormat
from streamgauge.importing.formats import read_tool_file
from streamgauge.importing.kafka_tools import read_consumer_perf, read_end_to_end, read_producer_perf
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import find_java
from tests.importing.samples import CONSUMER_PERF, CONSUMER_PERF_DETAILED, END_TO_END, PRODUCER_PERF
from tests.light_java import LIGHT_JAVA

RECORDS = 2000


def test_the_last_line_of_the_producers_test_is_of_all_records() -> None:
    [case] = read_producer_perf(PRODUCER_PERF)
    assert (case.message_count, case.rate_per_s) == (50001, 4999.6)
    [latency] = case.latencies
    assert (latency.mean, latency.max) == (6.74, 410.0)
    assert latency.percentiles == {"p50": 1.0, "p95": 18.0, "p99": 205.0, "p99.9": 390.0}
    assert [each.max_ms for each in case.intervals] == [410.0, 22.0]
    assert case.intervals[1].second == pytest.approx(25001 / 5000.2)


def test_of_two_totals_the_one_after_the_warm_up_counts() -> None:
    total = PRODUCER_PERF.splitlines()[-1]
    [case] = read_producer_perf(f"{total}\n{total.replace('205 ms', '3 ms')}\n")
    assert case.latencies[0].percentiles["p99"] == 3.0


def test_a_producers_test_that_was_cut_off_says_so() -> None:
    with pytest.raises(NotThisFormat, match="did not come to its end"):
        read_producer_perf("\n".join(PRODUCER_PERF.splitlines()[:-1]))


def test_the_consumers_test_has_a_rate_and_no_latency() -> None:
    [case] = read_consumer_perf(CONSUMER_PERF)
    assert (case.message_count, case.rate_per_s, case.latencies) == (50000, 20000.0, ())


def test_the_detailed_consumers_test_goes_on_in_windows_each_told_when_it_ends() -> None:
    [case] = read_consumer_perf(CONSUMER_PERF_DETAILED)
    assert (case.message_count, case.rate_per_s) == (30000, 15000.0)
    assert [(each.second, each.rate_per_s) for each in case.intervals] == [(0.0, 10000.0), (1.0, 20000.0)]


def test_columns_without_figures_are_refused() -> None:
    with pytest.raises(NotThisFormat, match="no figures below its columns"):
        read_consumer_perf(CONSUMER_PERF.splitlines()[0])


def test_the_end_to_end_test_has_an_average_and_percentiles() -> None:
    [case] = read_end_to_end(END_TO_END)
    assert case.latencies[0].mean == 0.7314
    assert case.latencies[0].percentiles == {"p50": 0.0, "p99": 2.0, "p99.9": 10.0}
    with pytest.raises(NotThisFormat, match="did not come to its end"):
        read_end_to_end("Avg latency: 0.7 ms\n")


@pytest.mark.broker
@pytest.mark.process
def test_what_kafkas_own_tools_print_today_is_read(kafka: str, tmp_path: Path) -> None:
    """The real tools, from the jars that the broker is of."""
    topic = f"imported-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    _tool(kafka, tmp_path / "produced.txt", "ProducerPerformance", topic)
    _tool(kafka, tmp_path / "consumed.txt", "ConsumerPerformance", topic)
    in_detail = ("--show-detailed-stats", "--reporting-interval", "1")
    _tool(kafka, tmp_path / "detailed.txt", "ConsumerPerformance", topic, *in_detail)
    _tool(kafka, tmp_path / "e2e.txt", "EndToEndLatency", topic)
    [produced] = read_tool_file(tmp_path / "produced.txt").cases
    assert produced.message_count == RECORDS
    assert set(produced.latencies[0].percentiles) == {"p50", "p95", "p99", "p99.9"}
    [consumed] = read_tool_file(tmp_path / "consumed.txt").cases
    assert consumed.message_count is not None
    assert consumed.message_count >= RECORDS
    assert consumed.rate_per_s
    [detailed] = read_tool_file(tmp_path / "detailed.txt").cases
    assert detailed.rate_per_s
    assert detailed.message_count
    begins_s = [each.second for each in detailed.intervals]
    ends_s = [*begins_s[1:], detailed.message_count / detailed.rate_per_s]
    lasted = zip(detailed.intervals, begins_s, ends_s, strict=True)
    counted = sum((each.rate_per_s or 0) * (end - begin) for each, begin, end in lasted)
    assert counted == pytest.approx(detailed.message_count, rel=1e-3), "intervals are not what the rate is of"
    [through] = read_tool_file(tmp_path / "e2e.txt").cases
    assert through.latencies[0].mean
    assert set(through.latencies[0].percentiles) == {"p50", "p99", "p99.9"}


def _tool(kafka: str, file: Path, tool: str, topic: str, *more: str) -> None:
    records = ("--num-records", str(RECORDS))
    given = {
        "ProducerPerformance": ("--topic", topic, *records, "--record-size", "100", "--throughput", "-1"),
        "ConsumerPerformance": ("--topic", topic, *records, "--timeout", "60000"),
        "EndToEndLatency": (
            "--topic",
            topic,
            "--num-records",
            "100",
            "--producer-acks",
            "1",
            "--record-size",
            "100",
        ),
    }
    command = [
        *(str(find_java().executable), *LIGHT_JAVA, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
        *("-cp", classpath(fetch("kafka")), f"org.apache.kafka.tools.{tool}"),
        *("--bootstrap-server", kafka, *given[tool], *more),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    file.write_text(done.stdout)
