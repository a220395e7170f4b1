from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode, Validity, cause
from streamgauge.families.e2e.answer import end_to_end_answer, end_to_end_text
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.document import Answer, Claim, ValidityVerdict
from streamgauge.report.results import answered_document, results_document

from ...golden import stored
from ...report.sample_run import single_run


def _no_spark() -> NoReturn:
    raise AssertionError("this run is small")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    copied = stored.copy_of("e2e", tmp_path_factory.mktemp("run"))
    analyze_with(_no_spark, copied)
    return copied


def _judged(run: RunDir, verdict: Validity) -> CasesDocument:
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    for case in document.cases:
        causes = [] if verdict is Validity.VALID else [cause(CauseCode.NEVER_SETTLED)]
        case.validity = ValidityVerdict(verdict=verdict, causes=causes)
    return document


def test_the_p99_has_the_interval_of_its_blocks(run: RunDir) -> None:
    assert results_document(run).answer is None
    answer = end_to_end_answer(run, _judged(run, Validity.VALID))
    first, faults = answer.claims
    assert (first.code, first.about["target"], first.about["rate_per_s"]) == ("p99_ms", "sim", 400.0)
    assert first.low is not None
    assert first.high is not None
    assert first.low < first.value < first.high
    assert faults.value > 0
    assert end_to_end_text(answer) == (
        "At 400/s, 99% of the messages through sim arrive within 9.232 ms (8.138–10.29), "
        "but 91 of 1,200 messages have faults."
    )


def test_what_may_not_be_quoted_is_not_said(run: RunDir) -> None:
    answer = end_to_end_answer(run, _judged(run, Validity.INVALID))
    assert answer.claims == []
    assert end_to_end_text(answer).startswith(
        "How late messages are cannot be said from this run: never at rest"
    )


def test_without_messages_at_hand_there_is_no_interval(tmp_path: Path) -> None:
    answer = answered_document(single_run(tmp_path / "run")).answer
    assert answer is not None
    assert end_to_end_text(answer) == "At 1,000/s, 99% of the messages through kafka arrive within 247.8 ms."
    answer = answered_document(single_run(tmp_path / "acks", consumers=0)).answer
    assert answer is not None
    assert "are acked within" in end_to_end_text(answer)


def test_several_targets_stand_in_their_order() -> None:
    claims = [
        Claim(code="messages_per_s", value=9000, low=8000, high=9900, about={"target": "one"}),
        Claim(code="messages_per_s", value=5000, low=4000, high=6000, about={"target": "two"}),
    ]
    causes = [cause(CauseCode.NOTHING_MEASURED)]
    assert end_to_end_text(Answer(claims=claims, causes=causes, excluded_count=2)) == (
        "one takes most: 9,000/s (8,000/s–9,900/s); then two 5,000/s (4,000/s–6,000/s). "
        "2 targets are left out: nothing was measured."
    )
    near = claims[1].model_copy(update={"high": 8100})
    assert end_to_end_text(Answer(claims=[claims[0], near])).endswith(
        "; the intervals of one and two overlap, so this run does not show which takes more."
    )
    assert end_to_end_text(Answer(claims=claims[:1])) == (
        "As fast as it can, one takes 9,000/s (8,000/s–9,900/s)."
    )
    about = {"rate_per_s": None, "leg": "intended_to_received"}
    paced = [
        Claim(code="p99_ms", value=value, about={"target": name, **about})
        for name, value in [("a", 1.5), ("b", 3)]
    ]
    assert end_to_end_text(Answer(claims=paced)) == (
        "a has the lowest p99 at its rates: 1.500 ms; then b 3.000 ms."
    )
    bounds = [(1.2, 1.9), (1.8, 4.0)]
    unsure = [
        claim.model_copy(update={"low": low, "high": high})
        for claim, (low, high) in zip(paced, bounds, strict=True)
    ]
    assert "; the intervals of a and b overlap, so this run does not show which is lower." in end_to_end_text(
        Answer(claims=unsure)
    )
