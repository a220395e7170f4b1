"""The results document of a run, whichever family it is of."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from pydantic import ValidationError

from streamgauge.core.errors import CorruptRun
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status, why_and_what_to_do
from streamgauge.plan.plan_file import read_plan
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.case_reading import cases_of
from streamgauge.report.document import Document, head_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.families import family_of
from streamgauge.spec.objective import Objective


def results_document(
    run: RunDir, tables: ResultTables | None = None, objectives: Sequence[Objective] | None = None
) -> Document:
    """The figures of every case of the plan, also of those that never ran. `objectives`: in place of the
    run's own."""
    plan = read_plan(run)
    if objectives is not None:
        plan = plan.model_copy(update={"objectives": tuple(objectives)})
    tables = tables or _tables(run)
    own = family_of(plan.kind).document(run, plan, tables)
    if own is not None:
        if plan.objectives and own.objectives is None:
            own.objectives = Outcome.NOT_DECIDABLE  # a document that says nothing of them passes none
        return own
    cases = cases_of(plan, read_status(run), tables)
    return CasesDocument(**head_of(run, plan, {case.case: case for case in cases}), cases=cases)


def answered_document(run: RunDir, tables: ResultTables | None = None) -> Document:
    """The same with the answer to what the run was made for, which may take a look at every message."""
    tables = tables or _tables(run)
    document = results_document(run, tables)
    document.answer = family_of(document.kind).answer(run, document, tables)
    return document


def stored_document(run: RunDir) -> Document:
    """As the report last wrote it; computed where there is none, or none of today's."""
    model = family_of(read_plan(run).kind).document_model() or CasesDocument
    if run.has(run.results_document):
        with contextlib.suppress(ValidationError):
            return model.model_validate_json(run.read_text(run.results_document))
    return results_document(run)


def _tables(run: RunDir) -> ResultTables:
    try:
        return ResultTables.read(run)
    except CorruptRun as error:
        status = read_status(run)
        if status.status == "ok":
            raise
        # Nothing is broken: there are no results yet, and `runs` says so in the same words.
        raise CorruptRun(
            f"{run.location}: {status.status}: {why_and_what_to_do(run, status) or error}"
        ) from error
