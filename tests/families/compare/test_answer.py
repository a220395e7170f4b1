from __future__ import annotations

from pathlib import Path

from streamgauge.core.verdicts import Validity
from streamgauge.families.compare.answer import compare_answer, compare_text
from streamgauge.families.compare.document import CompareDocument
from streamgauge.families.compare.verdict import Verdict
from streamgauge.report.results import results_document

from ...report.sample_comparison import compared_run


def _document(folder: Path) -> CompareDocument:
    document = results_document(compared_run(folder / "run"))
    assert isinstance(document, CompareDocument)
    return document


def test_the_faster_one_is_named_with_all_that_the_intervals_cover(tmp_path: Path) -> None:
    answer = compare_answer(_document(tmp_path))
    [claim] = answer.claims
    assert (claim.about["count"], claim.about["of_count"], answer.excluded_count) == (6, 6, 2)
    assert claim.low is not None
    assert claim.high is not None
    assert claim.low < claim.value < claim.high
    text = compare_text(answer)
    assert text.startswith("one is 2.0")
    assert "as fast as two in 6 of 6 comparisons. 2 comparisons are left out: the control found" in text


def test_verdicts_that_go_both_ways_are_counted(tmp_path: Path) -> None:
    document = _document(tmp_path)
    verdicts = (Verdict.A_FASTER, Verdict.B_FASTER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
    for row, verdict in zip(document.comparisons, verdicts * 2, strict=True):
        row.verdict = verdict
    text = compare_text(compare_answer(document))
    assert "two is 0.4" in text
    assert "one and two are equivalent in " in text
    assert "one and two cannot be told apart in " in text


def test_what_may_not_be_quoted_is_not_said(tmp_path: Path) -> None:
    document = _document(tmp_path)
    for row in document.comparisons:
        row.validity.verdict = Validity.INVALID
    answer = compare_answer(document)
    assert answer.claims == []
    assert compare_text(answer).startswith("Which library is faster cannot be said from this run: ")
