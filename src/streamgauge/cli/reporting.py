"""Writing the report of a run, with what is different from the run before it."""

from __future__ import annotations

from dataclasses import replace

from streamgauge.comparing.since import since_last
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.report.document import Document
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import answered_document
from streamgauge.report.shown import Shown
from streamgauge.report.write import shown_of, write_parts


def report_of(run: RunDir) -> tuple[Document, Shown, str]:
    """The document, what there is to see of it, and where the page is."""
    tables = ResultTables.read(run)
    document = answered_document(run, tables)
    since = since_last(run, document, runs_in(run.parent))
    shown = replace(shown_of(document, tables), since=since)
    return document, shown, write_parts(run, document, shown, tables)
