from __future__ import annotations

import csv
import io

from streamgauge.core.run_dir import RunDir
from streamgauge.report.csv_renderer import shown_csv, table_csv
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

from .seen import shown


def test_a_named_table_is_a_file(sweep: RunDir) -> None:
    [(name, content)] = shown_csv(shown(sweep)).items()
    assert name == "overview.csv"
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [found["integrity"] for found in rows][:2] == ["all accounted for", "messages lost"]
    assert [found["validity"] for found in rows][2:] == ["do not quote", "valid", "not measured"]


def test_every_digit_and_nothing_for_what_is_not_known() -> None:
    columns = [Column("a", Unit.MS), Column("b", Unit.COUNT), Column("c"), Column("d")]
    table = Table("t", columns, [row(Cell(1.23456789, is_doubtful=True), None, True, "x,y")])
    assert table_csv(table) == 'a,b,c,d,doubtful\n1.23456789,,true,"x,y",a\n'


def test_each_row_names_its_own_doubtful_columns() -> None:
    unsure = Cell(1.5, is_doubtful=True)
    table = Table("t", [Column("p50"), Column("p99")], [row(2.0, 3.0), row(2.0, unsure), row(unsure, unsure)])
    rows = list(csv.DictReader(io.StringIO(table_csv(table))))
    assert [each["doubtful"] for each in rows] == ["", "p99", "p50;p99"]
