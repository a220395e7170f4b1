"""Each cause by a case that has it and nothing else, and by its neighbour that has not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamgauge.analysis.validity import HostTrouble, Judged, validity
from streamgauge.core.verdicts import CauseCode, Limit, Validity

GOOD = Judged(
    measured_count=50_000,
    planned_count=50_000,
    wanted_per_s=10_000,
    sent_per_s=10_000,
    latency_count=50_000,
    p50_ms=2.0,
    p99_ms=8.0,
    lag_p99_ms=0.5,
    medians_ms=[2.0, 2.1, 1.9, 2.0, 2.0],
    limit=Limit.NONE,
    machine_share=0.5,
    clock_error_ms=0.1,
    below_zero_count=0,
    swapped_bytes=0.0,
    throttled_count=0.0,
)

INVALID: dict[CauseCode, dict[str, Any]] = {
    CauseCode.INCOMPLETE: {"measured_count": 49_999},
    CauseCode.FAULT_NOT_AS_PLANNED: {"failed_fault_count": 1},
    CauseCode.NOT_AT_REST: {"medians_ms": [2287.0, 1900.0, 1492.0, 700.0, 23.0], "drift_ms_per_s": -560.0},
    CauseCode.TOO_SHORT: {"medians_ms": [0.69, 0.6, 0.5, 0.5], "drift_ms_per_s": -97.0},
    CauseCode.RATE_MISSED: {"missed_rate": True, "sent_per_s": 5000.0},
    CauseCode.GENERATOR_LATE: {"lag_p99_ms": 4.1},
    CauseCode.NO_CPU_LEFT: {"limit": Limit.MACHINE_CPU, "machine_share": 0.99},
    CauseCode.CLOCK_ERROR: {"clock_error_ms": 0.51},
    CauseCode.CLOCK_JUMPED: {"hosts": [HostTrouble("left", 900.0), HostTrouble("right", wall_jump_ms=-4.0)]},
    CauseCode.HOST_SILENT: {"hosts": [HostTrouble("left", silent_ms=3000.0), HostTrouble("right")]},
    CauseCode.TOO_FEW_MESSAGES: {"latency_count": 999},
    CauseCode.SWAPPED: {"swapped_bytes": 4096.0},
    CauseCode.THROTTLED: {"throttled_count": 3.0},
}


@pytest.mark.parametrize(
    ("floor_ms", "who"),
    [(None, None), (0.1, "generator"), (2.04, "generator"), (2.05, "machine"), (9.0, "machine")],
)
def test_who_was_late_follows_from_what_a_bare_pacer_got_beside_it(
    floor_ms: float | None, who: str | None
) -> None:
    late = replace(GOOD, lag_p99_ms=4.1, noise_floor_p99_ms=floor_ms)
    [found] = validity(late)[1]
    assert (found.code, found.about) == (CauseCode.GENERATOR_LATE, who)
    assert found.figures.get("noise_floor_p99_ms") == floor_ms


def test_where_there_is_no_system_how_late_it_was_sent_is_the_figure_asked_for() -> None:
    itself = replace(GOOD, p50_ms=0.06, p99_ms=0.9, lag_p99_ms=0.85, clock_error_ms=0.0)
    assert [found.code for found in validity(itself)[1]] == [CauseCode.GENERATOR_LATE]
    assert validity(replace(itself, measures_itself=True)) == (Validity.VALID, [])


@pytest.mark.parametrize("code", [code for code in INVALID if code is not CauseCode.GENERATOR_LATE])
def test_every_other_cause_is_one_without_a_system_as_well(code: CauseCode) -> None:
    _, [found] = validity(replace(GOOD, measures_itself=True, **INVALID[code]))
    assert found.code is code


def test_a_machine_that_wakes_nobody_in_time_spoils_no_case_that_was_sent_in_time() -> None:
    assert validity(replace(GOOD, noise_floor_p99_ms=50.0)) == (Validity.VALID, [])


def test_a_good_case_may_be_quoted() -> None:
    assert validity(GOOD) == (Validity.VALID, [])


@pytest.mark.parametrize("code", INVALID)
def test_each_cause_is_named_alone_and_with_its_figures(code: CauseCode) -> None:
    verdict, causes = validity(replace(GOOD, **INVALID[code]))
    assert verdict is Validity.INVALID
    assert [cause.code for cause in causes] == [code]
    assert causes[0].figures


@pytest.mark.parametrize(
    "still_good",
    [
        {"lag_p99_ms": 4.0},
        {"clock_error_ms": 0.5},
        {"latency_count": 1000},
        {"limit": Limit.BROKER},
        {"lag_p99_ms": 0.09, "p99_ms": 0.02, "p50_ms": 0.01, "clock_error_ms": 0.0},
        {"planned_count": None},
        {"hosts": [HostTrouble("left", silent_ms=2999.0)]},
        {"medians_ms": [2.0, 2.0], "rested": True},
        {"medians_ms": [2.0, 2.0], "is_paced": False, "rates_per_s": [900.0, 1000.0, 1000.0, 990.0, 1000.0]},
        {"medians_ms": [2.0, 2.0], "is_paced": False, "rates_per_s": [1000.0], "rested": True},
        {"swapped_bytes": None, "throttled_count": None, "clock_error_ms": None},
    ],
)
def test_up_to_its_threshold_a_case_is_valid(still_good: dict[str, Any]) -> None:
    assert validity(replace(GOOD, **still_good))[0] is Validity.VALID


def test_latencies_below_zero_are_an_error_of_clocks() -> None:
    _, [cause] = validity(replace(GOOD, below_zero_count=3))
    assert (cause.code, cause.figures["below_zero_count"]) == (CauseCode.CLOCK_ERROR, 3)


def test_a_fault_that_was_begun_and_not_done_is_named_for_both() -> None:
    _, causes = validity(replace(GOOD, fault_count=2, failed_fault_count=1))
    assert [cause.code for cause in causes] == [
        CauseCode.FAULT_NOT_AS_PLANNED,
        CauseCode.FAULT_DURING_MEASURING,
    ]
    assert [cause.figures["fault_count"] for cause in causes] == [1, 2]


def test_a_case_that_broke_is_incomplete_whatever_it_sent() -> None:
    _, [cause] = validity(replace(GOOD, ended_well=False))
    assert cause.code is CauseCode.INCOMPLETE


def test_a_load_without_pace_is_not_judged_by_its_latency() -> None:
    queue = replace(GOOD, is_paced=False, lag_p99_ms=500.0, medians_ms=range(1, 900, 20), latency_count=30)
    queue = replace(queue, rates_per_s=[1000.0] * 45)
    assert validity(queue)[0] is Validity.VALID
    assert validity(replace(queue, swapped_bytes=1.0))[0] is Validity.INVALID
    _, [cause] = validity(replace(queue, rested=False))
    assert cause.code is CauseCode.NEVER_SETTLED, "its rate was not at rest"


WITHOUT_PACE = replace(GOOD, is_paced=False, drift_ms_per_s=-97.0)


@pytest.mark.parametrize("seconds", [0, 1, 4])
def test_a_rate_of_a_cold_moment_is_not_to_be_quoted(seconds: int) -> None:
    """5,000 messages through a broker that has just been started were valid."""
    _, [found] = validity(replace(WITHOUT_PACE, rates_per_s=[1000.0] * seconds))
    assert (found.code, found.figures) == (
        CauseCode.TOO_SHORT,
        {"second_count": seconds, "needed_count": 5},
    )


@pytest.mark.parametrize(
    "rates",
    [[100.0, 300.0, 500.0, 700.0, 900.0], [900.0] * 6 + [300.0] * 6, [1000.0 + 10 * n for n in range(40)]],
)
@pytest.mark.parametrize("rested", [None, True])
def test_a_rate_that_is_not_at_rest_is_not_to_be_quoted(rates: list[float], rested: bool | None) -> None:
    _, [found] = validity(replace(WITHOUT_PACE, rates_per_s=rates, rested=rested))
    assert found.code is CauseCode.NOT_AT_REST
    assert {"before_per_s", "after_per_s"} <= found.figures.keys()


def test_what_was_not_measured_is_neither() -> None:
    assert validity(Judged(planned_count=10, ended_well=False)) == (Validity.NOT_MEASURED, [])


def test_what_is_too_short_to_tell_says_how_long_it_takes() -> None:
    _, [cause] = validity(replace(GOOD, medians_ms=[0.69, 0.7]))
    assert (cause.figures["second_count"], cause.figures["needed_count"]) == (2, 5)


def test_a_warm_up_that_came_to_its_limit_is_the_cause_however_short_it_was() -> None:
    _, [cause] = validity(replace(GOOD, medians_ms=[0.69, 0.7], rested=False))
    assert cause.code is CauseCode.NEVER_SETTLED
