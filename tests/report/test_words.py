from __future__ import annotations

from typing import Any

from streamgauge.report.case_document import SCHEDULE_LAG, Accounting, Case, Legs, Ranges, Statistics
from streamgauge.report.parameters import Parameters
from streamgauge.report.words import (
    COUNT_MEANINGS,
    COUNT_NAMES,
    LEG_NAMES,
    STATISTIC_NAMES,
    TIMES,
    case_title,
    checked_of,
    claims_acks,
    fault_count,
    without_outcome_of,
)


def _case(
    consumers: int, completions: bool = True, acks: str = "all", iteration: int = 1, **counts: int
) -> Case:
    parameters = Parameters.model_construct(consumers=consumers, acks=acks, completions=completions, swept={})
    return Case.model_construct(
        parameters=parameters, accounting=Accounting(**counts), target="kafka", iteration=iteration
    )


def test_everything_in_a_document_has_a_name() -> None:
    assert tuple(LEG_NAMES) == (*Legs.model_fields, SCHEDULE_LAG)
    assert tuple(STATISTIC_NAMES) == tuple(Statistics.model_fields)
    assert tuple(COUNT_NAMES) == tuple(COUNT_MEANINGS) == tuple(Accounting.model_fields)
    assert all(COUNT_MEANINGS.values())


def test_legs_and_ranges_are_named_by_the_times_of_a_message() -> None:
    for leg, name in LEG_NAMES.items():
        begin, end = leg.split("_to_")
        assert {begin, end} <= set(TIMES)
        assert name == f"{end} − {begin}"
    assert set(Ranges.model_fields) == set(TIMES) - {"intended"}


def test_a_message_that_nobody_heard_of_again_is_a_fault() -> None:
    assert without_outcome_of(_case(1, sent=10, acked=7, received=7, failed=1)) == 2
    assert fault_count(_case(1, sent=10, acked=7, received=7, failed=1)) == 3
    assert without_outcome_of(_case(0, sent=10, acked=9)) == 1


def test_without_consumers_receipt_is_no_fault() -> None:
    case = _case(0, sent=10, acked=10, unseen=10)
    assert fault_count(case) == 0
    assert case.main_leg == "sent_to_acked"


def test_without_delivery_reports_only_receipt_can_be_missed() -> None:
    assert fault_count(_case(1, completions=False, sent=10, received=10)) == 0
    assert without_outcome_of(_case(1, completions=False, sent=10, received=8)) == 2
    assert "failed" not in checked_of(_case(1, completions=False))
    assert fault_count(_case(0, completions=False, sent=10)) == 0


def test_rounds_of_the_same_are_told_apart() -> None:
    some: dict[str, Any] = {"sent": 1}
    assert case_title(_case(1, **some)) == "kafka"
    assert case_title(_case(1, iteration=2, **some)) == "kafka round 2"


def test_without_acks_only_consumers_tell_what_became_of_messages() -> None:
    alone = _case(0, acks="0", sent=10)
    assert not claims_acks(alone)
    assert without_outcome_of(alone) == 0
    assert checked_of(alone) == ()
    assert "lost_write" in checked_of(_case(1, acks="0", sent=10, received=9, lost_write=1))
    assert fault_count(_case(1, acks="0", sent=10, received=9, lost_write=1)) == 1
    assert claims_acks(_case(1, acks="1"))
