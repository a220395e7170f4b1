"""When an objective is met, missed, or neither."""

from __future__ import annotations

from functools import partial

import pytest

from streamgauge.core.outcomes import Outcome, worst_outcome
from streamgauge.core.verdicts import Cause, CauseCode, Validity, cause
from streamgauge.report.document import ValidityVerdict
from streamgauge.report.outcomes import Known, outcomes_of
from streamgauge.spec.metrics import OF_MESSAGES
from streamgauge.spec.objective import read_objective

VALID = ValidityVerdict(verdict=Validity.VALID)
LATE = cause(CauseCode.GENERATOR_LATE, lag_p99_ms=9.0, latency_p99_ms=10.0)
FEW = cause(CauseCode.TOO_FEW_MESSAGES, message_count=500, needed_count=1000)
CUT = cause(CauseCode.INCOMPLETE, measured_count=5, planned_count=10)


def invalid(*causes: Cause) -> ValidityVerdict:
    return ValidityVerdict(verdict=Validity.INVALID, causes=list(causes))


@pytest.mark.parametrize(
    ("text", "known", "validity", "outcome", "codes"),
    [
        ("p99<20ms", Known(19.0, message_count=1000), VALID, "met", []),
        ("p99<20ms", Known(21.0, message_count=1000), VALID, "missed", []),
        ("p99<20ms", Known(19.0, message_count=999), VALID, "not_decidable", ["too_few_messages"]),
        ("p99<20ms", Known(21.0, message_count=999), VALID, "not_decidable", ["too_few_messages"]),
        ("p99<20ms", Known(None), VALID, "not_decidable", ["nothing_measured"]),
        # What may not be quoted decides nothing, to either side.
        ("p99<20ms", Known(1.0, message_count=5000), invalid(LATE), "not_decidable", ["generator_late"]),
        ("p99<20ms", Known(99.0, message_count=5000), invalid(LATE), "not_decidable", ["generator_late"]),
        ("mean<20ms", Known(1.0, message_count=5000), invalid(LATE), "not_decidable", ["generator_late"]),
        # Too few for the p99 of the headline are enough for a median, and for a mean.
        ("p50<20ms", Known(1.0, message_count=500), invalid(FEW), "met", []),
        ("mean<20ms", Known(21.0, message_count=500), invalid(FEW), "missed", []),
        ("p99<20ms", Known(1.0, message_count=500), invalid(FEW), "not_decidable", ["too_few_messages"]),
        # Counts are exact, whatever else went wrong; but of what was cut off the rest is not known.
        ("lost=0", Known(0), invalid(LATE), "met", []),
        ("lost=0", Known(1), invalid(LATE), "missed", []),
        ("lost=0", Known(1), invalid(CUT), "missed", []),
        ("lost=0", Known(0), invalid(CUT), "not_decidable", ["incomplete"]),
        ("lost=0", Known(0, interval=(0, 3)), VALID, "not_decidable", ["bound_in_interval"]),
        ("lost<=3", Known(0, interval=(0, 3)), VALID, "met", []),
        ("rate>=95%", Known(80.0), invalid(LATE), "missed", []),
        ("rate>=95%", Known(99.0), VALID, "met", []),
        ("valid", Known(None), VALID, "met", []),
        ("valid", Known(None), invalid(LATE), "missed", ["generator_late"]),
        ("valid", Known(None), ValidityVerdict(), "not_decidable", ["nothing_measured"]),
    ],
)
def test_what_comes_of_an_objective(
    text: str, known: Known, validity: ValidityVerdict, outcome: str, codes: list[str]
) -> None:
    [found] = outcomes_of([read_objective(text, OF_MESSAGES)], lambda _: known, validity)
    assert (found.outcome, [each.code for each in found.causes]) == (outcome, codes)
    assert found.objective == text


def _always(known: Known, asked: object) -> Known:
    return known


def test_an_interval_decides_when_all_of_it_is_on_one_side() -> None:
    objective = read_objective("p99<20ms", OF_MESSAGES)
    known = [Known(20.0, interval=ends) for ends in ((18.0, 19.0), (19.0, 20.5), (20.0, 22.0))]
    said = [outcomes_of([objective], partial(_always, each), VALID)[0].outcome for each in known]
    assert said == [Outcome.MET, Outcome.NOT_DECIDABLE, Outcome.MISSED]


def test_a_search_asks_for_figures_alone() -> None:
    objective = read_objective("p99<20ms", OF_MESSAGES)
    [found] = outcomes_of([objective], lambda _: Known(19.0, None, 5), invalid(LATE), by_figures_alone=True)
    assert found.outcome is Outcome.MET


def test_the_worst_counts_and_undecided_is_no_pass() -> None:
    assert worst_outcome([]) is None
    assert worst_outcome([Outcome.MET, Outcome.NOT_DECIDABLE]) is Outcome.NOT_DECIDABLE
    assert worst_outcome([Outcome.NOT_DECIDABLE, Outcome.MISSED, Outcome.MET]) is Outcome.MISSED
