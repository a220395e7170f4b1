"""A page is read in a browser: however long a run was, and however many cases it had, it stays small."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.cases_show import show_cases
from streamgauge.report.many_cases import whole_on_page
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.page_renderer import render_page
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.tables.results import HISTOGRAM, RESOURCES

from .sample_run import SECONDS

MOST_BYTES = 1_500_000
TWELVE_HOURS = 12 * 3600


def _read(run: RunDir) -> tuple[CasesDocument, ResultTables]:
    tables = ResultTables.read(run)
    document = results_document(run, tables)
    assert isinstance(document, CasesDocument)
    return document, tables


def _longer(document: CasesDocument, tables: ResultTables) -> ResultTables:
    """The same case for twelve hours, watched from 8 processes."""
    [case] = document.cases
    course = case.seconds
    case.seconds = [
        course[second % SECONDS].model_copy(update={"second": second}) for second in range(TWELVE_HOURS)
    ]
    [row, *_] = tables.rows(RESOURCES, "001", kind="producer")
    columns = {name: [value] * (8 * TWELVE_HOURS) for name, value in row.items()}
    columns["source"] = [f"producer-{number}" for number in range(8) for _ in range(TWELVE_HOURS)]
    columns["at_s"] = [second + 0.013 for _ in range(8) for second in range(TWELVE_HOURS)]
    columns["cpu_cores"] = [0.4 + second % 7 / 100 for _ in range(8) for second in range(TWELVE_HOURS)]
    table = pa.table(columns, schema=tables.tables["resources"].schema)
    return ResultTables({**tables.tables, "resources": table})


def _many(document: CasesDocument, tables: ResultTables, count: int) -> ResultTables:
    [case] = document.cases
    ids = [f"{number:03}" for number in range(1, count + 1)]
    document.cases = [case.model_copy(update={"case": name}) for name in ids]
    of_cases = {}
    for name in (HISTOGRAM.name, RESOURCES.name):
        table = tables.tables[name]
        place = table.schema.get_field_index("case")
        parts = [table.set_column(place, "case", pa.array([each] * len(table))) for each in ids]
        of_cases[name] = pa.concat_tables(parts)
    return ResultTables({**tables.tables, **of_cases})


def _page(document: CasesDocument, tables: ResultTables) -> str:
    return render_page(show_cases(document, tables), document.environment)


def test_twelve_hours_are_a_page_of_less_than_a_megabyte_and_a_half(one_case: RunDir) -> None:
    document, tables = _read(one_case)
    page = _page(document, _longer(document, tables))
    assert len(page.encode()) < MOST_BYTES
    assert "the least and the greatest value are drawn" in page


def test_64_cases_are_a_page_of_less_than_a_megabyte_and_a_half(one_case: RunDir) -> None:
    document, tables = _read(one_case)
    page = _page(document, _many(document, tables, 64))
    assert len(page.encode()) < MOST_BYTES
    assert len(re.findall('id="case-', page)) == 64
    assert page.count('href="csv/latency.csv"') == 64 - len(whole_on_page(document.cases))


def test_paper_has_every_case_whole(one_case: RunDir) -> None:
    document, tables = _read(one_case)
    tables = _many(document, tables, 20)
    assert shown_markdown(show_cases(document, tables)).count("Throughput, and the range") == 20


def test_the_first_those_in_trouble_and_the_slowest_are_drawn(one_case: RunDir, sweep: RunDir) -> None:
    document, tables = _read(one_case)
    _many(document, tables, 64)
    slow = document.cases[40] = document.cases[40].model_copy(deep=True)
    slow.latency_ms.intended_to_received.p99 = 1e6
    [_, broken, *_] = _read(sweep)[0].cases
    document.cases[50] = broken.model_copy(update={"case": "051"})
    assert {"001", "006", "041", "051"} <= whole_on_page(document.cases)


@pytest.mark.parametrize("count", [1, 12])
def test_of_few_cases_every_one_is_drawn(one_case: RunDir, tmp_path: Path, count: int) -> None:
    document, tables = _read(one_case)
    _many(document, tables, count)
    assert len(whole_on_page(document.cases)) == count
