from __future__ import annotations

import pytest

from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.report.document import State
from streamgauge.report.medium import Tone
from streamgauge.report.results import results_document
from streamgauge.report.verdict_show import badge_of, cause_blocks, integrity_tone, validity_tone

from .seen import shown


@pytest.mark.parametrize("status", State)
@pytest.mark.parametrize("integrity", Integrity)
@pytest.mark.parametrize("validity", Validity)
@pytest.mark.parametrize("outcome", [None, *Outcome])
def test_green_only_if_both_hold_and_objectives_are_met(
    status: State, integrity: Integrity, validity: Validity, outcome: Outcome | None
) -> None:
    badge = badge_of(status, integrity, validity, outcome)
    is_met = outcome in (None, Outcome.MET)
    both = is_met and (status, integrity, validity) == (State.OK, Integrity.OK, Validity.VALID)
    assert (badge.tone is Tone.GOOD) is both


def test_figures_not_to_be_quoted_are_amber() -> None:
    badge = badge_of(State.OK, Integrity.OK, Validity.INVALID, None)
    assert (badge.text, badge.tone) == ("do not quote", Tone.WARN)
    assert validity_tone(Validity.INVALID) is Tone.WARN
    assert integrity_tone(Integrity.LOST) is Tone.BAD
    assert badge_of(State.OK, Integrity.LOST, Validity.INVALID, None).text == "messages lost"


def test_each_cause_is_said_once_with_what_to_do(sweep: RunDir) -> None:
    integrity, validity = shown(sweep).verdicts
    assert sorted(line.split(":")[0] for line in integrity.lines) == ["case 002"] * 3
    assert validity.lines == [
        "case 003: sent late: schedule lag p99 260.0 ms of a latency p99 of 262.0 ms; "
        "the machine's own noise floor is not known "
        "→ lower the rate, stop other work on this machine, or set load.precedence"
    ]


def test_of_one_case_faults_doubts_and_notes_are_apart(sweep: RunDir) -> None:
    cases = {case.case: case for case in results_document(sweep).cases}  # type: ignore[attr-defined]
    assert [block.tone for block in cause_blocks(cases["001"])] == []
    assert [block.tone for block in cause_blocks(cases["002"])] == [Tone.BAD]
    doubt, note = cause_blocks(cases["003"])
    assert doubt.items[0].startswith("Do not quote: sent late")  # type: ignore[union-attr]
    assert (doubt.tone, note.tone) == (Tone.WARN, Tone.WARN)
