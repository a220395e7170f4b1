from __future__ import annotations

from pathlib import Path

from streamgauge.core.verdicts import CauseCode, Validity, cause
from streamgauge.families.limit.answer import limit_answer, limit_answer_text
from streamgauge.families.limit.document import LimitDocument
from streamgauge.report.results import results_document

from ...report.sample_run import limit_run


def _document(folder: Path) -> LimitDocument:
    document = results_document(limit_run(folder / "run"))
    assert isinstance(document, LimitDocument)
    return document


def test_the_truth_lies_between_what_holds_and_what_does_not(tmp_path: Path) -> None:
    answer = limit_answer(_document(tmp_path))
    [claim] = answer.claims
    assert (claim.value, claim.low, claim.high) == (2000, 2000, 2828)
    assert answer.causes == []
    assert limit_answer_text(answer) == (
        "2,000/s hold p99<20ms and lost=0, 2,828/s do not, and the limit is: broker."
    )


def test_a_search_that_found_one_end_only_says_which(tmp_path: Path) -> None:
    document = _document(tmp_path)
    document.limit.broken_per_s = None
    assert limit_answer_text(limit_answer(document)) == (
        "2,000/s hold p99<20ms and lost=0, and no rate was found that does not."
    )
    document.limit.held_per_s, document.limit.broken_per_s = None, 500.0
    assert limit_answer_text(limit_answer(document)) == (
        "No rate that was tried holds p99<20ms and lost=0: the lowest was 500/s."
    )


def test_what_may_not_be_quoted_is_not_said(tmp_path: Path) -> None:
    document = _document(tmp_path)
    document.validity = Validity.INVALID
    for case in document.cases:
        case.validity.verdict = Validity.INVALID
        case.validity.causes = [cause(CauseCode.NEVER_SETTLED)]
    text = limit_answer_text(limit_answer(document))
    assert text.startswith("The highest rate cannot be said from this run: never at rest")
    assert "raise --warm-up-limit" in text
