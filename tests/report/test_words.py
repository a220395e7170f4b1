from __future__ import annotations

from typing import Any

from streamgauge.report.old_shape import COUNTS, STATISTICS
from streamgauge.report.words import (
    COUNT_MEANINGS,
    COUNT_NAMES,
    LEG_NAMES,
    STATISTIC_NAMES,
    case_title,
    fault_count,
    faults_checked,
    limit_text,
    main_leg,
    without_outcome,
)
from streamgauge.tables.results import LEGS


def _case(consumers: int, completions: bool = True, **counts: int) -> dict[str, Any]:
    parameters = {"consumers": consumers, "completions": completions, "swept": {}}
    accounting = dict.fromkeys(COUNTS, 0) | counts
    return {"parameters": parameters, "accounting": accounting, "target": "kafka", "iteration": 1}


def test_everything_in_a_document_has_a_name() -> None:
    assert tuple(LEG_NAMES) == LEGS
    assert tuple(STATISTIC_NAMES) == STATISTICS
    assert tuple(COUNT_NAMES) == tuple(COUNT_MEANINGS) == COUNTS


def test_a_message_that_nobody_heard_of_again_is_a_fault() -> None:
    assert without_outcome(_case(1, sent=10, acked=7, received=7, failed=1)) == 2
    assert fault_count(_case(1, sent=10, acked=7, received=7, failed=1)) == 3
    assert without_outcome(_case(0, sent=10, acked=9)) == 1


def test_a_damaged_copy_and_a_late_ack_are_outcomes() -> None:
    assert without_outcome(_case(1, sent=10, acked=10, received=9, corrupt=1)) == 0
    assert without_outcome(_case(1, sent=10, acked=8, received=10)) == 0


def test_without_consumers_receipt_is_no_fault() -> None:
    case = _case(0, sent=10, acked=10, unseen=10)
    assert fault_count(case) == 0
    assert main_leg(case) == "sent_to_acked"


def test_without_delivery_reports_only_receipt_can_be_missed() -> None:
    assert fault_count(_case(1, completions=False, sent=10, received=10)) == 0
    assert without_outcome(_case(1, completions=False, sent=10, received=8)) == 2
    assert "failed" not in faults_checked(_case(1, completions=False))
    assert "duplicate" in faults_checked(_case(1, completions=False))
    assert fault_count(_case(0, completions=False, sent=10)) == 0


def test_rounds_of_the_same_are_told_apart() -> None:
    assert case_title(_case(1)) == "kafka"
    assert case_title(_case(1) | {"iteration": 2}) == "kafka round 2"


def test_limits() -> None:
    assert limit_text({"bottleneck": {"limit": None, "reason": None}}) == "not known"
    assert (
        limit_text({"bottleneck": {"limit": "client_cpu", "reason": "1.0 cores"}}) == "client CPU – 1.0 cores"
    )
