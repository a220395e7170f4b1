"""docs/words.md is the table of words: what is shown, written and stored is held to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import Accounting, Ranges
from streamgauge.report.schema import results_schema
from streamgauge.report.shown import Shown
from streamgauge.report.shown_tables import Table
from streamgauge.report.words import COUNT_MEANINGS, COUNT_NAMES, LEG_NAMES, TIMES
from streamgauge.spec.families import all_families
from streamgauge.tables.results import ACCOUNTING, LEGS, RANGES, RESULT_TABLES

from .sample_comparison import compared_run
from .sample_run import limit_run, single_run, sweep_run, transports_run
from .seen import markdown, shown

TEXT = (Path(__file__).parents[2] / "docs" / "words.md").read_text("utf-8")

REPLACED = ("published", "output", "consumed", "contest", "due", "acknowledged")
"""Words of 0.1 for what has another now: in no name of a field or a column."""

EXEMPT = {"published"}
"""Of a fan-out: what was published elsewhere, which is another thing."""


def rows_of(heading: str) -> list[list[str]]:
    """The rows of all tables below a heading."""
    part = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_times_and_legs_are_those_of_the_code() -> None:
    rows = rows_of("The times of a message")
    found = {row[0]: row[1] for row in rows}
    assert {time: found[time] for time in TIMES} == TIMES
    assert {leg: found[leg] for leg in LEG_NAMES} == LEG_NAMES
    assert tuple(LEG_NAMES) == LEGS


def test_counts_are_those_of_the_code() -> None:
    found = {row[0]: row[1:] for row in rows_of("What became of a message")[1:]}
    assert list(found) == list(COUNT_NAMES)
    assert {name: [COUNT_NAMES[name], COUNT_MEANINGS[name]] for name in COUNT_NAMES} == found


def test_tables_and_documents_have_the_same_names() -> None:
    assert set(Accounting.model_fields) <= set(ACCOUNTING.column_names)
    assert {f"{name}_s" for name in Ranges.model_fields} <= set(RANGES.column_names)


def names_of_json() -> Iterator[str]:
    for definition in results_schema()["$defs"].values():
        yield from definition.get("properties", ())


def names_of_tables() -> Iterator[str]:
    tables = {table.name: table for table in RESULT_TABLES}
    for family in all_families():
        tables |= {table.name: table for table in family.result_tables() or ()}
    for table in tables.values():
        yield from table.column_names


def parts_of(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name.lower()))


def test_no_name_says_a_word_that_was_replaced() -> None:
    names = {*names_of_json(), *names_of_tables()} - EXEMPT
    assert len(names) > 150
    assert sorted(name for name in names if parts_of(name) & set(REPLACED)) == []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunDir]:
    folder = tmp_path_factory.mktemp("words")
    return [
        single_run(folder / "one"),
        sweep_run(folder / "sweep"),
        limit_run(folder / "limit"),
        transports_run(folder / "transports"),
        compared_run(folder / "compare"),
    ]


def heads_of(seen: Shown) -> Iterator[str]:
    for section in seen.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                yield from (column.name for column in block.columns)


def test_no_column_head_and_no_report_says_one_either(runs: list[RunDir]) -> None:
    for run in runs:
        heads = set(heads_of(shown(run)))
        assert len(heads) > 8
        assert sorted(head for head in heads if parts_of(head) & set(REPLACED)) == []
        text = markdown(run)
        assert not re.search(r"\b(published|consumed) −|− (published|output|consumed)\b", text)
        assert "integrity" in text.lower()
        assert "validity" in text.lower()
