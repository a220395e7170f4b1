from __future__ import annotations

import json

from streamgauge.core.run_dir import RunDir
from streamgauge.report.write import write_report

from .old_document import results_document


def test_all_parts_are_written(one_case: RunDir) -> None:
    place = write_report(one_case)
    assert place == one_case.url("report/index.html")
    assert one_case.read_text(one_case.report_page).startswith("<!doctype html>")
    assert json.loads(one_case.read_text(one_case.results_document)) == results_document(one_case)
    assert len(list(one_case.list_files(one_case.report_csv, ".csv"))) == 10


def test_a_report_can_be_written_again(one_case: RunDir) -> None:
    write_report(one_case)
    first = one_case.read_text(one_case.report_page)
    write_report(one_case)
    assert one_case.read_text(one_case.report_page) == first
