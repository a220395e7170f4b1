"""The report stage: results in, results.json, CSV files, Markdown and the page out."""

from __future__ import annotations

from dataclasses import replace

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import note_report
from streamgauge.report.answering import with_answer
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.cases_show import show_cases
from streamgauge.report.csv_files import write_csv_files
from streamgauge.report.csv_renderer import shown_csv
from streamgauge.report.document import Document, document_text
from streamgauge.report.kafka_perf_csv import write_kafka_perf_csv
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.origin_show import origin_of
from streamgauge.report.outcome_show import with_objectives
from streamgauge.report.page_renderer import render_page
from streamgauge.report.plots import plot_files
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import answered_document
from streamgauge.report.shown import Link, Shown
from streamgauge.spec.families import family_of


def shown_of(document: Document, tables: ResultTables) -> Shown:
    """What there is to see of a run; of a family that says nothing of its own, its cases."""
    own = family_of(document.kind).show(document, tables)
    if own is None:
        assert isinstance(document, CasesDocument), (
            f"family {document.kind} must say what to show of its document"
        )
        own = show_cases(document, tables)
    told = replace(own, origin=origin_of(document))
    return with_answer(with_objectives(told, document), document)


def write_report(run: RunDir) -> str:
    """Write all parts of the report; returns where the page is."""
    tables = ResultTables.read(run)
    document = answered_document(run, tables)
    return write_parts(run, document, shown_of(document, tables), tables)


def write_parts(run: RunDir, document: Document, shown: Shown, tables: ResultTables) -> str:
    """The same for whoever has the document already."""
    run.write_text(run.results_document, document_text(document))
    write_csv_files(run, tables)
    for name, content in shown_csv(shown).items():
        run.write_text(f"{run.report_csv}/{name}", content)
    if isinstance(document, CasesDocument):
        write_kafka_perf_csv(run, tables)
        for name, drawn in plot_files([document], None, with_page=False).items():
            run.write_bytes(f"{run.report_plots}/{name}", drawn)
    for name, make in shown.files.items():
        made = make()
        run.write_bytes(f"{run.report_folder}/{name}", made.encode() if isinstance(made, str) else made)
    run.write_text(run.report_markdown, shown_markdown(shown))
    linked = replace(shown, links=_links(run))
    run.write_text(run.report_page, render_page(linked, document.environment))
    note_report(run)
    return run.url(run.report_page)


def _links(run: RunDir) -> list[Link]:
    """Everything beside the page, as it lies there now."""
    folder = f"{run.report_folder}/"
    found = [path.removeprefix(folder) for path in run.list_files(run.report_folder)]
    return [Link(path, path) for path in found if f"{folder}{path}" != run.report_page]
