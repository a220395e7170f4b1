from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.report.document import document_text
from streamgauge.report.results import answered_document
from streamgauge.report.write import write_report


def test_all_parts_are_written(one_case: RunDir) -> None:
    place = write_report(one_case)
    assert place == one_case.url("report/index.html")
    assert one_case.read_text(one_case.report_page).startswith("<!doctype html>")
    assert one_case.read_text(one_case.results_document) == document_text(answered_document(one_case))
    assert len(list(one_case.list_files(one_case.report_csv, ".csv"))) == 11
    assert "Validity: **valid**" in one_case.read_text(one_case.report_markdown)


def test_a_report_can_be_written_again(one_case: RunDir) -> None:
    write_report(one_case)
    first = one_case.read_text(one_case.report_page)
    write_report(one_case)
    assert one_case.read_text(one_case.report_page) == first
