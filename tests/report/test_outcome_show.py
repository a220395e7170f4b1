from __future__ import annotations

from streamgauge.core.outcomes import ObjectiveOutcome, Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.medium import Tone
from streamgauge.report.outcome_show import with_objectives
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.shown import Shown
from streamgauge.report.shown_tables import Table
from streamgauge.report.write import shown_of


def found(metric: str, outcome: Outcome, **fields: object) -> ObjectiveOutcome:
    content = {"objective": f"{metric}<20ms", "metric": metric, "outcome": outcome, "figure": 19.0}
    return ObjectiveOutcome.model_validate({**content, "bound": 20.0, "unit": "ms", **fields})


def shown(run: RunDir, *outcomes: ObjectiveOutcome, worst: Outcome) -> tuple[Shown, CasesDocument]:
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    plain = shown_of(document, ResultTables.read(run))
    for case in document.cases:
        case.objectives = list(outcomes)
    document.objectives = worst
    return with_objectives(plain, document), document


def test_what_was_missed_comes_first_and_is_red(one_case: RunDir) -> None:
    few = cause(CauseCode.TOO_FEW_MESSAGES, about="p99.99", message_count=500, needed_count=100_000)
    what, _ = shown(
        one_case,
        found("p50", Outcome.MET),
        found("p99.99", Outcome.NOT_DECIDABLE, causes=[few]),
        found("p99", Outcome.MISSED, figure=31.0),
        worst=Outcome.MISSED,
    )
    verdict = what.verdicts[-1]
    assert (verdict.name, verdict.words, verdict.tone) == ("Objectives", "missed", Tone.BAD)
    assert verdict.lines == [
        "p99<20ms: missed – it was 31.00 ms",
        "p99.99<20ms: not decidable – it was 19.00 ms; "
        "too few messages for a p99.99: 500, but it needs 100,000",
        "p50<20ms: met, it was 19.00 ms",
    ]


def test_not_decidable_is_amber_and_never_green(one_case: RunDir) -> None:
    what, document = shown(one_case, found("p99", Outcome.NOT_DECIDABLE), worst=Outcome.NOT_DECIDABLE)
    assert what.verdicts[-1].tone is Tone.WARN
    assert not document.is_good
    assert not document.cases[0].is_good


def test_a_long_table_is_folded(sweep: RunDir) -> None:
    few, _ = shown(sweep, found("p99", Outcome.MET), worst=Outcome.MET)
    many, _ = shown(sweep, *(found(name, Outcome.MET) for name in ("p50", "p90", "p99")), worst=Outcome.MET)
    for what, is_folded in ((few, False), (many, True)):
        [table] = what.sections[0].blocks
        assert isinstance(table, Table)
        assert table.is_folded is is_folded
