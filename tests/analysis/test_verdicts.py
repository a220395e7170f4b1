import pytest

pytestmark = pytest.mark.spark


def reasons(results, case):
    return results.row("verdicts", case)["reasons"].splitlines()


@pytest.mark.parametrize(
    ("case", "status", "said"),
    [
        ("clean", "ok", []),
        ("no_consumers", "ok", []),
        ("steps", "ok", []),
        (
            "missing",
            "failed",
            [
                "1 acknowledged messages lost, though later ones of their partition came",
                "1 acknowledged messages not seen, and nothing after them in their partition",
            ],
        ),
        ("duplicates", "ok", ["3 duplicate copies received"]),
        (
            "out_of_order",
            "ok",
            ["only 6 of 8 messages sent", "2 duplicate copies received", "1 messages received out of order"],
        ),
        ("early", "ok", ["2 latencies below zero: kept, look at the clocks"]),
        (
            "create_time",
            "ok",
            ["output time is the client's create time, not the broker's append time"],
        ),
        ("missed_rate", "ok", ["missed its rate: 500 of 1000 msg/s (50.0%)"]),
        ("cut_short", "partial", ["time limit reached", "only 3 of 5 messages sent"]),
        ("not_begun", "partial", ["the case was not begun"]),
        ("nothing_sent", "partial", ["the case did not end", "only 0 of 7 messages sent"]),
    ],
)
def test_status_and_reasons(results, case, status, said):
    assert results.row("verdicts", case)["status"] == status
    assert reasons(results, case) == said


def test_without_delivery_reports_receipt_alone_is_known(results):
    assert results.row("verdicts", "unreported")["status"] == "failed"
    assert reasons(results, "unreported") == [
        "1 messages, sent without delivery reports, did not arrive",
        "delivery reports were off: acknowledgements and failures are not known",
    ]
    [counts] = results.rows("accounting", "unreported", scope="case")
    assert (counts["sent"], counts["acked"], counts["received"], counts["unseen"]) == (5, 0, 4, 0)


def test_with_neither_reports_nor_consumers_nothing_is_known_and_nothing_is_claimed(results):
    assert results.row("verdicts", "unreported_and_alone")["status"] == "ok"
    assert reasons(results, "unreported_and_alone") == [
        "delivery reports were off: acknowledgements and failures are not known"
    ]


def test_what_went_wrong_makes_a_case_fail(results):
    for case in ("missing", "never_received", "damaged", "failures", "warm_up", "planted-0"):
        assert results.row("verdicts", case)["status"] == "failed"
    assert "4 corrupt records received" in reasons(results, "damaged")
    assert "3 unexpected records received: not sent by this case" in reasons(results, "damaged")
    assert "3 messages failed to be delivered" in reasons(results, "failures")
    assert "1 messages neither acknowledged nor failed" in reasons(results, "failures")


def test_every_planned_case_has_one_verdict(results, recorded):
    for case in recorded.cases.values():
        assert results.row("verdicts", case.name)["bottleneck_reason"]


def test_drift_is_the_slope_of_medians(results):
    assert results.row("verdicts", "seconds")["drift_ms_per_s"] == pytest.approx(10, rel=2e-3)
    assert results.row("verdicts", "clean")["drift_ms_per_s"] is None


def test_bottleneck_of_whole_cases(results):
    assert results.row("verdicts", "clean")["bottleneck"] == "none"
    assert results.row("verdicts", "clean")["bottleneck_reason"].startswith("the load was held: schedule lag")
    assert results.row("verdicts", "unlimited")["bottleneck"] == "client_cpu"
    assert results.row("verdicts", "missed_rate")["bottleneck"] == "generator"
    assert results.row("verdicts", "not_begun")["bottleneck_reason"] == "nothing was measured"
