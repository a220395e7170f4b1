from __future__ import annotations

import pytest

from streamgauge.tables.faults import FAULTS, faults_checked, not_arrived_count, without_outcome

COUNTS = {"sent": 10, "acked": 7, "failed": 1, "received": 8, "lost_write": 0, "unseen": 0, "corrupt": 0}


@pytest.mark.parametrize(
    ("consumers", "completions", "expected"),
    [
        (True, True, FAULTS),
        (False, True, ("failed",)),
        (True, False, ("duplicate", "out_of_order", "corrupt", "unexpected")),
        (False, False, ()),
    ],
)
def test_nothing_is_said_of_what_nobody_looked_at(consumers, completions, expected) -> None:
    assert faults_checked(has_consumers=consumers, has_completions=completions) == expected


def test_both_sides_bound_what_was_never_heard_of_again() -> None:
    assert without_outcome(COUNTS, has_consumers=True, has_completions=True) == 1
    assert without_outcome(COUNTS, has_consumers=False, has_completions=True) == 2
    assert without_outcome(COUNTS, has_consumers=False, has_completions=False) == 0
    assert without_outcome(COUNTS | {"received": 9}, has_consumers=True, has_completions=True) == 0


def test_what_was_aborted_as_planned_has_an_outcome() -> None:
    aborted = COUNTS | {"acked": 5, "received": 5, "aborted": 3}
    assert without_outcome(aborted, has_consumers=True, has_completions=True) == 1
    assert not_arrived_count(aborted, has_consumers=True, has_completions=False) == 1
