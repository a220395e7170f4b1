"""Rules that hold for every table, of events and of results."""

from __future__ import annotations

import pytest

from streamgauge.plan.family_tables import event_tables_of, result_tables_of
from streamgauge.spec.families import kinds
from streamgauge.tables import events, results
from streamgauge.tables.column import Table

TABLES = tuple(
    dict.fromkeys(table for kind in kinds() for table in (*event_tables_of(kind), *result_tables_of(kind)))
)
every_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


@every_table
def test_columns_have_names_of_their_own_and_say_what_they_mean(table: Table) -> None:
    assert len(set(table.column_names)) == len(table.columns)
    assert all(column.meaning for column in table.columns)
    assert table.row


@every_table
def test_times_in_ns_are_64_bit(table: Table) -> None:
    assert {column.kind for column in table.columns if column.name.endswith("_ns")} <= {"int64"}


def test_no_two_tables_share_a_name() -> None:
    assert len({table.name for table in TABLES}) == len(TABLES)


@pytest.mark.parametrize("module", [events, results])
def test_every_table_of_a_module_is_in_its_list(module: object) -> None:
    listed = TABLES
    assert [
        table.name for table in vars(module).values() if isinstance(table, Table) and table not in listed
    ] == []


def test_every_result_row_belongs_to_a_case() -> None:
    assert all(table.column_names[0] == "case" for kind in kinds() for table in result_tables_of(kind))


def test_the_case_of_an_event_is_in_the_name_of_its_folder_only() -> None:
    assert [
        table.name for kind in kinds() for table in event_tables_of(kind) if "case" in table.column_names
    ] == []


def test_percentiles_are_named_by_their_value() -> None:
    assert {f"p{100 * share:.6g}".replace(".", "_"): share for share in results.PERCENTILES.values()} == (
        results.PERCENTILES
    )
