from __future__ import annotations

import csv
import io

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.csv_files import results_csv, write_csv_files
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.tables.results import MESSAGES, RESULT_TABLES


def test_one_file_a_table_with_its_columns(one_case: RunDir) -> None:
    tables = ResultTables.read(one_case)
    places = write_csv_files(one_case, tables)
    reported = [table for table in RESULT_TABLES if table is not MESSAGES]
    assert len(places) == len(reported)
    for table in reported:
        rows = list(csv.reader(io.StringIO(one_case.read_text(f"report/csv/{table.name}.csv"))))
        assert rows[0] == table.column_names
        assert len(rows) == tables.tables[table.name].num_rows + 1


def test_percentiles_with_too_few_messages_behind_them_are_named(sweep: RunDir) -> None:
    document = results_document(sweep)
    assert isinstance(document, CasesDocument)
    leg = document.cases[0].latency_ms.intended_to_received.model_copy(update={"count": 500})
    legs = document.cases[0].latency_ms.model_copy(update={"intended_to_received": leg})
    cases = [document.cases[0].model_copy(update={"latency_ms": legs}), *document.cases[1:]]
    rows = list(csv.DictReader(io.StringIO(results_csv(document.model_copy(update={"cases": cases})))))
    named = rows[0]["doubtful"].split(";")
    of_leg = [name for name in named if name.startswith("latency_ms.intended_to_received.")]
    assert [name.rpartition(".")[2] for name in of_leg] == ["p99", "p99_9"]
    assert set(named) <= rows[0].keys()
    assert rows[4]["doubtful"] == "", "nothing was measured"


def test_one_row_a_case(sweep: RunDir) -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(results_document(sweep)))))
    assert [row["case"] for row in rows] == ["001", "002", "003", "004", "005"]
    assert rows[1]["accounting.lost_write"] == "7"
    assert (rows[1]["integrity.verdict"], rows[1]["validity.verdict"]) == ("lost", "valid")
    assert rows[1]["integrity.causes"] == "lost_write unseen duplicate"
    assert rows[1]["parameters.swept.message.size"] == "700"
    assert rows[0]["warm_up.sent"] == "4000"
    assert rows[4]["warm_up.sent"] == ""
    assert rows[4]["latency_ms.intended_to_received.p99"] == ""
    assert "warm_up" not in rows[0]
    assert not any(column.startswith(("seconds", "clocks")) for column in rows[0])
