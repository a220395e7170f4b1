"""The results document of a run, whichever family it is of."""

from __future__ import annotations

from streamgauge.core.errors import CorruptRun
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.plan.plan_file import read_plan
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.case_reading import cases_of
from streamgauge.report.document import Document, head_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.families import family_of


def results_document(run: RunDir, tables: ResultTables | None = None) -> Document:
    """The figures of every case of the plan, also of those that never ran."""
    plan = read_plan(run)
    tables = tables or _tables(run)
    own = family_of(plan.kind).document(run, plan, tables)
    if own is not None:
        if plan.objectives and own.objectives is None:
            own.objectives = Outcome.NOT_DECIDABLE  # a document that says nothing of them passes none
        return own
    cases = cases_of(plan, read_status(run), tables)
    return CasesDocument(**head_of(run, plan, {case.case: case for case in cases}), cases=cases)


def _tables(run: RunDir) -> ResultTables:
    try:
        return ResultTables.read(run)
    except CorruptRun as error:
        status = read_status(run)
        if status.status == "ok":
            raise
        # Nothing is broken: there are no results yet, and `runs` says so in the same words.
        raise CorruptRun(f"{run.location}: {status.status}: {status.reason or error}") from error
