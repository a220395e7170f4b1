"""The report stage: results in, results.json, CSV files and the page out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.core.run_dir import RunDir
from streamgauge.report.comparison_csv import repetitions_csv
from streamgauge.report.comparison_markdown import comparison_markdown
from streamgauge.report.csv_files import write_csv_files
from streamgauge.report.document import Document, document_text
from streamgauge.report.fanout_markdown import fanout_markdown
from streamgauge.report.fanout_pictures import fanout_pictures
from streamgauge.report.hdr_files import hgrm_text, hlog_text
from streamgauge.report.kafka_perf_csv import write_kafka_perf_csv
from streamgauge.report.limit_csv import limit_csv
from streamgauge.report.old_shape import old_shape
from streamgauge.report.page import render_page
from streamgauge.report.plots import plot_files
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.transport_text import LEG, is_paced, rate_name, transports_csv, transports_markdown
from streamgauge.tables.results import HISTOGRAM


def write_report(run: RunDir) -> str:
    """Write all parts of the report; returns where the page is."""
    tables = ResultTables.read(run)
    return write_parts(run, results_document(run, tables), tables)


def write_parts(run: RunDir, results: Document, tables: ResultTables) -> str:
    """The same for whoever has the document already."""
    run.write_text(run.results_document, document_text(results))
    document = old_shape(results)
    write_csv_files(run, tables)
    if document["comparison"] is not None:
        for temperature in ("cold", "warm"):
            place = f"{run.report_csv}/repetitions-{temperature}.csv"
            run.write_text(place, repetitions_csv(document, tables, temperature))
        run.write_text(run.report_markdown, comparison_markdown(document))
    if document["transports"] is not None:
        _write_transports(run, document, tables)
    if document["limit"] is not None:
        run.write_text(f"{run.report_csv}/limit.csv", limit_csv(document))
    if "fanout" in document:
        run.write_text(run.report_fanout, fanout_markdown(document, tables))
        plots: Mapping[str, bytes] = fanout_pictures(document["fanout"])
    else:
        write_kafka_perf_csv(run, tables)
        plots = plot_files([document], None, with_page=False)
    for name, content in plots.items():
        run.write_bytes(f"{run.report_plots}/{name}", content)
    run.write_text(run.report_page, render_page(document, tables))
    return run.url(run.report_page)


def _write_transports(run: RunDir, document: dict[str, Any], tables: ResultTables) -> None:
    """Transport-bench's table, and each histogram as the usual tools read it."""
    part = document["transports"]
    run.write_text(f"{run.report_csv}/transports.csv", transports_csv(part))
    run.write_text(run.report_transports, transports_markdown(part))
    for case in document["cases"]:
        rows = [row for row in tables.rows(HISTOGRAM, case["case"]) if row["leg"] == LEG]
        if rows and is_paced(case):
            rate = float(case["parameters"]["rate"])
            place = f"{run.report_histograms}/{case['target']}-{rate_name(rate)}-{case['case']}"
            run.write_text(f"{place}.hlog", hlog_text(rows, case["range_s"]["sent"] or 0.0))
            run.write_text(f"{place}.hgrm", hgrm_text(rows))
