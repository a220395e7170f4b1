"""A run's results as files that other programs read: a function for each format, and one place for all."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.exporting.omb_result import omb_result_text
from streamgauge.exporting.openmetrics import openmetrics_text
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.csv_files import results_csv
from streamgauge.report.document import Document
from streamgauge.report.hdr_files import hgrm_text, hlog_text
from streamgauge.report.message_csv import write_messages
from streamgauge.report.result_tables import ResultTables, read_result, result_files
from streamgauge.report.results import results_document
from streamgauge.tables.results import HISTOGRAM, MESSAGES

Content = Callable[[], bytes]
"""Made when it is written: messages of a long run are not all there at once."""
Files = Iterator[tuple[str, Content]]


def exported_files(run: RunDir, wanted: str) -> Files:
    """Name → content. What a run of this kind does not have is refused in a line."""
    tables = ResultTables.read(run)
    document = results_document(run, tables)
    return FORMATS[wanted](run, document, tables)


def _parquet(run: RunDir, document: Document, tables: ResultTables) -> Files:
    """A file for each result table, with all its rows."""
    for table in result_tables_of(document.kind):
        if table is not MESSAGES or result_files(run, table):
            yield f"{table.name}.parquet", lambda table=table: _packed(read_result(run, table))  # type: ignore[misc]


def _packed(rows: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(rows, stream, compression="zstd")
    return stream.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _csv(run: RunDir, document: Document, tables: ResultTables) -> Files:
    """One row a case; a file for each result table; a row a message."""
    yield "results.csv", lambda: results_csv(document).encode()
    for name, rows in tables.tables.items():
        yield f"{name}.csv", lambda rows=rows: _as_csv(rows)  # type: ignore[misc]
    if MESSAGES in result_tables_of(document.kind) and result_files(run, MESSAGES):
        yield "messages.csv", lambda: _messages_csv(run)


def _as_csv(rows: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    arrow_csv.write_csv(rows, stream)
    return stream.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _messages_csv(run: RunDir) -> bytes:
    stream = io.BytesIO()
    write_messages(run, stream)
    return stream.getvalue()


def _openmetrics(run: RunDir, document: Document, tables: ResultTables) -> Files:
    yield "metrics.txt", lambda: openmetrics_text(document).encode()


def _hdr(run: RunDir, document: Document, tables: ResultTables) -> Files:
    """A log and a percentile table for every leg of every case."""
    for case in _of_messages(run, document).cases:
        by_leg: dict[str, list[dict[str, object]]] = {}
        for row in tables.rows(HISTOGRAM, case.case):
            by_leg.setdefault(row["leg"], []).append(row)
        for leg, rows in by_leg.items():
            name, lasted_s = f"{case.case}-{leg}", case.range_s.sent or 0.0
            yield f"{name}.hlog", lambda rows=rows, s=lasted_s: hlog_text(rows, s).encode()  # type: ignore[misc]
            yield f"{name}.hgrm", lambda rows=rows: hgrm_text(rows).encode()  # type: ignore[misc]


def _omb(run: RunDir, document: Document, tables: ResultTables) -> Files:
    """As the OpenMessaging Benchmark writes its results, one file a case."""
    for case in _of_messages(run, document).cases:
        if case.is_measured:
            rows = tables.rows(HISTOGRAM, case.case)
            yield (
                f"{document.name}-{case.case}.json",
                lambda case=case, rows=rows: omb_result_text(run, document, case, rows).encode(),  # type: ignore[misc]
            )


def _of_messages(run: RunDir, document: Document) -> CasesDocument:
    if not isinstance(document, CasesDocument):
        raise BadInput(f"{run.location}: a run of kind {document.kind} has no cases of messages to export so")
    return document


FORMATS: Mapping[str, Callable[[RunDir, Document, ResultTables], Files]] = {
    "parquet": _parquet,
    "csv": _csv,
    "openmetrics": _openmetrics,
    "hdr": _hdr,
    "omb": _omb,
}
