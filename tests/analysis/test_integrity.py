from __future__ import annotations

import pytest

from streamgauge.analysis.integrity import integrity
from streamgauge.core.findings import CaseVerification
from streamgauge.core.verdicts import Integrity

NAMES = ("failed", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected")
GOOD = {"sent": 100, "acked": 100, "received": 100, **dict.fromkeys(NAMES, 0)}


def finding(kind: str, count: int, allowed_by: str | None = None) -> dict[str, object]:
    return {"kind": kind, "count": count, "allowed_by": allowed_by}


def judged(*, consumers: bool = True, completions: bool = True, **counts: int) -> tuple[str, dict[str, int]]:
    verdict, causes = integrity(GOOD | counts, has_consumers=consumers, has_completions=completions)
    return verdict, {cause.code.value: int(cause.figures["message_count"]) for cause in causes}


@pytest.mark.parametrize(
    ("counts", "verdict", "said"),
    [
        ({}, "ok", {}),
        ({"lost_write": 2, "received": 98}, "lost", {"lost_write": 2}),
        ({"unseen": 2, "duplicate": 9, "received": 98}, "lost", {"unseen": 2, "duplicate": 9}),
        ({"corrupt": 1, "received": 99}, "corrupt", {"corrupt": 1}),
        ({"failed": 3, "acked": 97, "received": 97}, "failed", {"failed": 3}),
        ({"acked": 99, "received": 99}, "no_outcome", {"no_outcome": 1}),
        ({"acked": 80, "received": 80, "aborted": 20}, "ok", {}),
        ({"acked": 79, "received": 79, "aborted": 20}, "no_outcome", {"no_outcome": 1}),
        ({"acked": 99}, "ok", {}),
        ({"unexpected": 1}, "unexpected", {"unexpected": 1}),
        ({"out_of_order": 4}, "out_of_order", {"out_of_order": 4}),
        ({"sent": 0, "acked": 0, "received": 0}, "not_measured", {}),
    ],
)
def test_the_worst_is_the_verdict_and_all_are_named(counts, verdict, said) -> None:
    assert judged(**counts) == (verdict, said)


def test_without_reports_what_did_not_arrive_is_lost_once() -> None:
    assert judged(completions=False, acked=0, received=98) == ("lost", {"not_arrived": 2})


def test_nobody_looked() -> None:
    assert judged(consumers=False, completions=False, acked=0, received=0) == (Integrity.NOT_CHECKED, {})
    assert judged(consumers=False, received=0) == (Integrity.OK, {})


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        ({}, "ok", {}),
        ({"cut_back": 7}, "lost", {"cut_back": 7}),
        ({"findings": [finding("aborted_read", 3)]}, "unexpected", {"aborted_read": 3}),
        ({"findings": [finding("inconsistent_offsets", 2)]}, "inconsistent", {"inconsistent_offsets": 2}),
        ({"findings": [finding("nonmonotonic_poll", 1)]}, "ok", {}),
        ({"findings": [finding("inconsistent_offsets", 2, allowed_by="acks=1")]}, "ok", {}),
        (
            {"cut_back": 7, "findings": [finding("inconsistent_offsets", 7, allowed_by="acks=1")]},
            "lost",
            {"cut_back": 7},
        ),
    ],
)
def test_what_only_the_verification_sees_is_part_of_the_verdict(found, verdict, said) -> None:
    verified = CaseVerification.model_validate({"case": "001", **found})
    whole, causes = integrity(GOOD, has_consumers=True, has_completions=True, verified=verified)
    assert (whole, {cause.code.value: cause.figures["message_count"] for cause in causes}) == (verdict, said)
