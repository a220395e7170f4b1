"""The report stage: results in, results.json, CSV files and the page out."""

from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.report.comparison_csv import repetitions_csv
from streamgauge.report.comparison_markdown import comparison_markdown
from streamgauge.report.csv_files import write_csv_files
from streamgauge.report.document import document_text, results_document
from streamgauge.report.kafka_perf_csv import write_kafka_perf_csv
from streamgauge.report.limit_csv import limit_csv
from streamgauge.report.page import render_page
from streamgauge.report.plots import plot_files
from streamgauge.report.result_tables import ResultTables


def write_report(run: RunDir) -> str:
    """Write all parts of the report; returns where the page is."""
    tables = ResultTables.read(run)
    document = results_document(run, tables)
    run.write_text(run.results_document, document_text(document))
    write_csv_files(run, tables)
    if document["comparison"] is not None:
        for temperature in ("cold", "warm"):
            place = f"{run.report_csv}/repetitions-{temperature}.csv"
            run.write_text(place, repetitions_csv(document, tables, temperature))
        run.write_text(run.report_markdown, comparison_markdown(document))
    write_kafka_perf_csv(run, tables)
    if document["limit"] is not None:
        run.write_text(f"{run.report_csv}/limit.csv", limit_csv(document))
    for name, content in plot_files([document], None, with_page=False).items():
        run.write_bytes(f"{run.report_plots}/{name}", content)
    run.write_text(run.report_page, render_page(document, tables))
    return run.url(run.report_page)
