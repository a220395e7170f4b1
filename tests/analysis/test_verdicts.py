from typing import Any

import pytest


def causes(results, case, verdict):
    """Codes of a verdict with their figures, in order."""
    found: dict[str, Any] = {}
    for row in sorted(results.rows("causes", case, verdict=verdict), key=lambda row: row["place"]):
        found.setdefault(row["code"], {})
        if row["figure"] is not None:
            found[row["code"]][row["figure"]] = row["value"]
    return found


@pytest.mark.parametrize(
    ("case", "status", "integrity", "said"),
    [
        ("clean", "ok", "ok", {}),
        ("no_consumers", "ok", "ok", {}),
        ("steps", "ok", "ok", {}),
        ("missing", "failed", "lost", {"lost_write": 1, "unseen": 1}),
        ("duplicates", "ok", "duplicate", {"duplicate": 3}),
        ("out_of_order", "ok", "duplicate", {"duplicate": 2, "out_of_order": 1}),
        ("unreported", "failed", "lost", {"not_arrived": 1}),
        ("unreported_and_alone", "ok", "not_checked", {}),
        ("cut_short", "partial", "ok", {}),
        ("not_begun", "partial", "not_measured", {}),
        ("nothing_sent", "partial", "not_measured", {}),
    ],
)
def test_integrity(results, case, status, integrity, said):
    row = results.row("verdicts", case)
    assert (row["status"], row["integrity"]) == (status, integrity)
    found = causes(results, case, "integrity")
    assert {code: figures["message_count"] for code, figures in found.items()} == said


def test_without_delivery_reports_receipt_alone_is_known(results):
    assert list(causes(results, "unreported", "note")) == ["no_delivery_reports"]
    [counts] = results.rows("accounting", "unreported", scope="case")
    assert (counts["sent"], counts["acked"], counts["received"], counts["unseen"]) == (5, 0, 4, 0)


def test_what_went_wrong_makes_a_case_fail(results):
    for case in ("missing", "never_received", "damaged", "failures", "warm_up", "planted-0"):
        assert results.row("verdicts", case)["status"] == "failed"
    damaged, failures = (causes(results, case, "integrity") for case in ("damaged", "failures"))
    assert damaged["corrupt"] == {"message_count": 4}
    assert damaged["unexpected"] == {"message_count": 3}
    assert failures["failed"] == {"message_count": 3}
    assert causes(results, "failures", "note")["unacked"] == {"message_count": 1}


def test_what_somebody_else_said_is_a_note(results):
    [row] = results.rows("causes", "cut_short", verdict="note")
    assert (row["code"], row["text"]) == ("recorded", "time limit reached")
    assert list(causes(results, "create_time", "note")) == ["broker_time_is_create_time"]


def test_a_case_that_is_short_or_late_is_not_to_be_quoted(results):
    assert results.row("verdicts", "missed_rate")["validity"] == "invalid"
    missed = causes(results, "missed_rate", "validity")["rate_missed"]
    assert missed == {"sent_per_s": pytest.approx(500), "wanted_per_s": 1000}
    short = causes(results, "cut_short", "validity")["incomplete"]
    assert short == {"measured_count": 3, "planned_count": 5}
    assert causes(results, "early", "validity")["clock_error"]["below_zero_count"] == 2


def test_how_late_it_sends_is_what_a_case_without_a_system_is_there_to_tell(results):
    late = causes(results, "sent_late", "validity")["generator_late"]
    assert late == {"lag_p99_ms": pytest.approx(3.0), "latency_p99_ms": pytest.approx(3.001)}
    assert "measures_itself" not in causes(results, "sent_late", "note")
    # The same messages: all else that was said against them is said of both.
    others = causes(results, "sent_late", "validity").keys() - {"generator_late"}
    assert others
    assert causes(results, "measures_itself", "validity").keys() == others
    assert "measures_itself" in causes(results, "measures_itself", "note")


def test_clocks_that_may_be_further_apart_than_the_latency_are_named(results):
    assert causes(results, "two_hosts", "validity")["clock_error"]["clock_error_ms"] == 4.0
    assert "clock_error" not in causes(results, "clean", "validity")


def test_what_was_not_measured_has_no_validity(results):
    assert results.row("verdicts", "not_begun")["validity"] == "not_measured"
    assert causes(results, "not_begun", "validity") == {}


def test_every_planned_case_has_one_verdict(results, recorded):
    for case in recorded.cases.values():
        assert results.row("verdicts", case.name)["bottleneck"]
        assert len({row["code"] for row in results.rows("causes", case.name, verdict="bottleneck")}) == 1


def test_drift_is_the_slope_of_medians(results):
    assert results.row("verdicts", "seconds")["drift_ms_per_s"] == pytest.approx(10, rel=2e-3)
    assert results.row("verdicts", "clean")["drift_ms_per_s"] is None


def test_bottleneck_of_whole_cases(results):
    assert results.row("verdicts", "clean")["bottleneck"] == "none"
    assert causes(results, "clean", "bottleneck")["load_held"]["lag_p99_ms"] >= 0
    assert results.row("verdicts", "unlimited")["bottleneck"] == "client_cpu"
    assert results.row("verdicts", "missed_rate")["bottleneck"] == "generator"
    assert causes(results, "not_begun", "bottleneck") == {"nothing_measured": {}}


def test_without_acks_none_is_claimed_and_it_is_said(results):
    assert "no_acks" in causes(results, "no_offsets", "note")
    assert "no_acks" not in causes(results, "clean", "note")
