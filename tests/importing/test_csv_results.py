from __future__ import annotations

import pytest

from streamgauge.importing.csv_results import read_k6, read_kafka_perf, read_locust, read_locust_history
from streamgauge.importing.figures import NotThisFormat
from tests.importing.samples import K6, KAFKA_PERF, LOCUST, LOCUST_HISTORY


def test_k6_samples_become_exact_percentiles() -> None:
    [case] = read_k6(K6)
    assert [each.leg for each in case.latencies] == ["http_req_duration", "iteration_duration"]
    latency = case.latencies[0]
    assert (latency.count, latency.mean, latency.percentiles["p50"]) == (2, 20.0, 20.0)
    assert (case.message_count, case.failed_count, case.rate_per_s) == (2, 1, 1.0)


def test_locust_has_a_case_for_each_request_and_one_for_all() -> None:
    orders, _, everything = read_locust(LOCUST)
    assert orders.settings == {"request": "GET /orders"}
    assert (orders.failed_count, orders.message_count, orders.rate_per_s) == (3, 600, 5.0)
    assert orders.latencies[0].percentiles["p99.9"] == 300.0
    assert "p100" not in orders.latencies[0].percentiles
    assert everything.settings == {"request": "Aggregated"}


def test_of_a_single_request_all_of_them_are_no_case_beside_it() -> None:
    [only] = read_locust("\n".join(line for line in LOCUST.splitlines() if not line.startswith("POST")))
    assert only.settings == {"request": "GET /orders"}


def test_locusts_history_goes_on_second_by_second() -> None:
    [case] = read_locust_history(LOCUST_HISTORY)
    assert [(each.second, each.p99_ms) for each in case.intervals] == [(0.0, None), (2.0, 150.0)]
    assert (case.message_count, case.failed_count) == (25, 1)


def test_rounds_of_the_go_benchmark_have_the_same_settings() -> None:
    first, second = read_kafka_perf(KAFKA_PERF)
    assert first.settings == second.settings == {"topic": 1, "partition": 4, "message.size": 64}
    assert (first.latencies[0].mean, second.latencies[0].mean) == (269.0, 223.0)
    assert first.bytes_per_s == pytest.approx(1.1 * 1024)


def test_what_we_write_in_its_form_is_read_with_our_columns() -> None:
    ours = KAFKA_PERF.splitlines()[0] + ", AvgMs, MinMs, MaxMs, P50Ms, P99.9Ms\n"
    ours += KAFKA_PERF.splitlines()[1] + ", 269.125, 94.5, 897.25, 200.5, 880.125\n"
    [case] = read_kafka_perf(ours)
    assert case.latencies[0].mean == 269.125
    assert case.latencies[0].percentiles == {"p50": 200.5, "p99.9": 880.125}


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (read_k6, K6[:-30], "cells: cut off, or not CSV"),
        (read_k6, K6.splitlines()[0] + "\n", "has neither"),
        (read_k6, K6.replace("10.000000", "-1"), "no figure that can be measured"),
        (read_locust, LOCUST[:-20], "cells: cut off"),
        (read_locust, LOCUST.splitlines()[0], "no request"),
        (read_locust_history, LOCUST_HISTORY.splitlines()[0], "no row of all requests"),
        (read_kafka_perf, KAFKA_PERF.splitlines()[0], "no row below"),
        (read_kafka_perf, KAFKA_PERF.replace("269", "nan"), "no figure"),
        (read_kafka_perf, "", "is not CSV"),
    ],
)
def test_what_is_cut_off_is_refused_in_a_line(read: object, text: str, said: str) -> None:
    assert callable(read)
    with pytest.raises(NotThisFormat, match=said) as error:
        read(text)
    assert "\n" not in str(error.value)
