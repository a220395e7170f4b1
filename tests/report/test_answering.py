from __future__ import annotations

from pathlib import Path

from streamgauge.core.verdicts import CauseCode, Validity, cause
from streamgauge.report.answering import answer_from, interval_text, left_out_text, refusal_text
from streamgauge.report.document import Answer, Claim, State, ValidityVerdict, Verdicts
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.medium import Tone
from streamgauge.report.page_renderer import render_page
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import answered_document
from streamgauge.report.write import shown_of

from .sample_run import HOSTILE, single_run
from .seen import console_text, words

CLAIM = Claim(code="c", value=2, low=1, high=3)


def _part(*codes: CauseCode, validity: Validity = Validity.INVALID) -> Verdicts:
    causes = [cause(code) for code in codes]
    return Verdicts(status=State.OK, validity=ValidityVerdict(verdict=validity, causes=causes))


def test_each_reason_stands_once() -> None:
    parts = {"a": _part(CauseCode.NEVER_SETTLED), "b": _part(CauseCode.NEVER_SETTLED), "c": _part()}
    answer = answer_from([CLAIM], parts)
    assert [why.code for why in answer.causes] == [CauseCode.NEVER_SETTLED, CauseCode.NOTHING_MEASURED]
    assert answer.excluded_count == 3
    assert left_out_text(answer, "case").startswith(" 3 cases are left out: never at rest")
    assert left_out_text(Answer(claims=[CLAIM]), "case") == ""
    assert answer_from([], {}).causes == [cause(CauseCode.NOTHING_MEASURED)]


def test_of_many_reasons_the_first_are_told() -> None:
    causes = [
        cause(CauseCode.NOTHING_MEASURED),
        cause(CauseCode.NO_STEP_MISSED),
        cause(CauseCode.NO_CONSUMERS),
    ]
    text = refusal_text("It", Answer(causes=causes))
    assert text == (
        "It cannot be said from this run: nothing was measured; no step missed an objective; "
        "and 1 more reason."
    )


def test_an_interval_without_an_end_is_not_written() -> None:
    assert interval_text(CLAIM, str) == " (1.0–3.0)"
    assert interval_text(Claim(code="c", value=2, low=1), str) == ""


def test_the_answer_stands_on_top_of_every_medium(tmp_path: Path) -> None:
    run = single_run(tmp_path / "run")
    tables = ResultTables.read(run)
    document = answered_document(run, tables)
    shown = shown_of(document, tables)
    assert shown.answer is not None
    assert shown.answer.tone is Tone.PLAIN
    said = shown.answer.text
    assert said in " ".join(console_text(shown).split())
    assert f"**{said}**" in shown_markdown(shown)
    page = render_page(shown, {})
    assert said in words(page)
    # Before all figures.
    assert page.index('class="answer plain"') < page.index('class="facts"')
    assert document.answer is not None
    document.answer.claims[0].about["target"] = HOSTILE
    assert HOSTILE not in render_page(shown_of(document, tables), {})
    document.answer.excluded_count = 1
    left_out = shown_of(document, tables).answer
    assert left_out is not None
    assert left_out.tone is Tone.WARN
