from __future__ import annotations

import pytest

from streamgauge.core.verdicts import (
    Cause,
    CauseCode,
    Integrity,
    Validity,
    cause,
    worst_integrity,
    worst_validity,
)


def test_figures_that_are_not_known_are_left_out() -> None:
    found = cause(CauseCode.NO_CPU_LEFT, machine_busy_share=0.97, busiest_client_cores=None)
    assert found == Cause(
        code=CauseCode.NO_CPU_LEFT, about=None, text=None, figures={"machine_busy_share": 0.97}
    )


@pytest.mark.parametrize(
    ("found", "worst"),
    [
        ([], "not_measured"),
        (["ok", "not_measured"], "ok"),
        (["ok", "duplicate", "lost", "ok"], "lost"),
        (["not_checked", "ok"], "not_checked"),
        (list(Integrity), "lost"),
    ],
)
def test_the_worst_integrity(found: list[str], worst: str) -> None:
    assert worst_integrity(map(Integrity, found)) == worst


def test_one_case_that_is_not_to_be_quoted_is_enough() -> None:
    assert worst_validity([Validity.VALID, Validity.INVALID]) is Validity.INVALID
    assert worst_validity([Validity.VALID, Validity.NOT_MEASURED]) is Validity.VALID
    assert worst_validity([]) is Validity.NOT_MEASURED
