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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1700000000250000000", "1700000002250000000"),
        ("1700000000250000", "1700000002250000"),
        ("1700000000250", "1700000002250"),
        ("2023-11-14T22:13:20.250+00:00", "2023-11-14T22:13:22.250Z"),
        ("2023-11-14T22:13:20.250000000Z", "2023-11-14T23:13:22.250000000+01:00"),
    ],
    ids=["unix_nano", "unix_micro", "unix_milli", "rfc3339_nano", "of a zone"],
)
def test_k6_times_are_read_in_each_of_its_formats(first: str, second: str) -> None:
    text = K6.replace("1700000000", first).replace("1700000001", second)
    [case] = read_k6(text)
    assert case.rate_per_s == pytest.approx(0.5), "one came in two seconds, after the first"
    assert not any("whole seconds" in note for note in case.notes)
    [whole] = read_k6(
        K6.replace("1700000000", "2023-11-14T22:13:20Z").replace("1700000001", "2023-11-14T22:13:21Z")
    )
    assert whole.rate_per_s == 1.0


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


def test_what_locusts_history_tells_of_ten_seconds_does_not_stand_for_the_run() -> None:
    later = "1700000020,5,,Aggregated,2.0,0.0,5,5,5,5,5,6,6,7,7,7,7,400,1,15,25.5,1,900,100\n"
    [case] = read_locust_history(LOCUST_HISTORY + later)
    assert case.rate_per_s == 20.0, "400 in 20 s, not the 2 a second of the end"
    assert case.latencies[0].percentiles == {"p50": 15.0}
    assert (case.latencies[0].mean, case.latencies[0].max) == (25.5, 900.0)
    assert case.intervals[-1].p99_ms == 7.0


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
        (read_k6, K6.replace("1700000000", "2023-T"), "'2023-T' is no time"),
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
