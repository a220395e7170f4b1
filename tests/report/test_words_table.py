"""docs/words.md is the table of words: what is shown, written and stored is held to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import streamgauge
from streamgauge.comparing.schema import diff_schema
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.show import show_fanout
from streamgauge.families.sweep.scope_table import scope_section
from streamgauge.families.sweep.show import cost_table
from streamgauge.report.case_document import Accounting, Ranges
from streamgauge.report.knob_points import KnobPlot
from streamgauge.report.parameters import Parameters
from streamgauge.report.plots import points_table
from streamgauge.report.schema import results_schema
from streamgauge.report.shown import Section
from streamgauge.report.shown_tables import Table
from streamgauge.report.words import COUNT_MEANINGS, COUNT_NAMES, LEG_NAMES, TIMES
from streamgauge.spec.families import all_families
from streamgauge.tables.faults import FAULTS
from streamgauge.tables.results import ACCOUNTING, LEGS, RANGES, RESULT_TABLES
from tests.families.fanout.test_show import LADDER, TABLES, document_of

from .sample_comparison import compared_run
from .sample_run import limit_run, single_run, sweep_run, transports_run
from .seen import markdown, shown

TEXT = (Path(__file__).parents[2] / "docs" / "words.md").read_text("utf-8")

ELSEWHERE = {"published"}
"""Of a fan-out: what was published elsewhere, which is another thing than what the page replaces."""

OF_DATA = re.compile(r"\d+(\.\d+)?K?|\d+ K?B|(A )?one|(B )?two")
"""Heads that are values: numbers of clients, lengths of messages, the libraries of the sample comparison."""


def part_below(heading: str) -> str:
    return TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]


def rows_of(heading: str) -> list[list[str]]:
    """The rows of all tables below a heading."""
    lines = [line for line in part_below(heading).splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


HEADINGS = (
    "What is run",
    "The times of a message",
    "What became of a message",
    "Counts of several",
    "What is measured",
    "Verdicts",
)
SHORTER = dict(rows_of("Heads that are shorter")[1:])
"""Head → the name that it stands for."""

REPLACED = {
    tuple(word.split())
    for heading in HEADINGS
    for head, *rows in [rows_of(heading)]
    if head[-1] == "not"
    for row in rows
    for word in row[-1].split(", ")
    if word
}


def split(name: str) -> list[str]:
    return [part for part in re.split(r"[\s_/,×−-]+", name.lower().replace("p99_9", "p99.9")) if part]


TERMS = [row[0] for heading in HEADINGS for row in rows_of(heading)[1:]]
PHRASES = [" ".join(parts) for term in TERMS if len(parts := split(term)) > 1]


def parts_of(name: str) -> list[str]:
    """The words that a name is made of; a term of several words is one: there is order, but no *out*."""
    text = " ".join(split(name))
    for phrase in PHRASES:
        text = re.sub(rf"\b{phrase}\b", phrase.replace(" ", "-"), text)
    return text.split()


def quoted(heading: str) -> set[str]:
    return {part for each in re.findall(r"`([^`]+)`", part_below(heading)) for part in parts_of(each)}


def defined() -> set[str]:
    """The first word of every row, and those in italics in what it means."""
    meanings = [row[1] for heading in HEADINGS for row in rows_of(heading)[1:]]
    terms = TERMS + [term for meaning in meanings for term in re.findall(r"\*([^*]+)\*", meaning)]
    return {part for term in terms for part in parts_of(term)} | quoted("Statistics")


def of(part: str, words: set[str]) -> set[str]:
    """The word that it is, or is the plural of."""
    return {part, part.removesuffix("s")} & words


def strange(names: set[str]) -> dict[str, list[str]]:
    """Name → its words that the page does not have."""
    words = defined() | quoted("Plain words")
    unknown = {name: [part for part in parts_of(name) if not of(part, words)] for name in names}
    return {name: parts for name, parts in unknown.items() if parts}


def replaced(names: set[str]) -> list[str]:
    return sorted(name for name in names if any(_has(parts_of(name), word) for word in REPLACED))


def _has(parts: list[str], word: tuple[str, ...]) -> bool:
    return any(tuple(parts[at : at + len(word)]) == word for at in range(len(parts)))


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
    [faults] = [means for word, means in rows_of("Counts of several") if word == "faults"]
    assert tuple(re.findall(r"`(\w+)`", faults)) == FAULTS


def test_tables_and_documents_have_the_same_names() -> None:
    assert set(Accounting.model_fields) <= set(ACCOUNTING.column_names)
    assert {f"{name}_s" for name in Ranges.model_fields} <= set(RANGES.column_names)


def names_of_json() -> set[str]:
    models = [*results_schema()["$defs"].values(), *diff_schema()["$defs"].values()]
    return {name for each in models for name in each.get("properties", ())}


def names_of_tables() -> set[str]:
    own = [family.result_tables() or () for family in all_families()]
    return {name for tables in (RESULT_TABLES, *own) for table in tables for name in table.column_names}


def test_every_name_of_json_and_tables_is_made_of_words_of_the_page() -> None:
    settings = set(Parameters.model_fields)
    names = (names_of_json() | names_of_tables()) - settings
    assert len(names) > 250
    assert strange(names) == {}
    assert replaced(names - ELSEWHERE) == []


def test_settings_in_force_are_those_that_the_page_of_results_tells() -> None:
    told = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
    assert [name for name in Parameters.model_fields if f"`{name}`" not in told] == []


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


def heads_in(sections: Iterable[Section]) -> set[str]:
    blocks = [block for section in sections for block in section.blocks]
    return {column.name for block in blocks if isinstance(block, Table) for column in block.columns}


def written_heads() -> set[str]:
    """All that stand in the code as they are shown, also those of tables that no sample has."""
    found = set()
    for file in sorted(Path(streamgauge.__file__).parent.rglob("*.py")):
        text = file.read_text("utf-8")
        if "from streamgauge.report.shown_tables import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Column":
                name = node.args[0]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    found.add(name.value)
    return found


@pytest.fixture(scope="module")
def heads(runs: list[RunDir]) -> set[str]:
    """Of every family, by samples; of tables that they do not have, by themselves."""
    seen = [shown(run) for run in runs] + [show_fanout(document_of(LADDER), TABLES)]
    for each in seen:
        assert len(heads_in(each.sections)) > 8, each.kicker
    alone = Section("alone", [cost_table([]), points_table(KnobPlot("rate", (), (), ()))])
    sections = [section for each in seen for section in each.sections]
    return heads_in([*sections, scope_section([]), alone]) | written_heads()


def test_every_head_is_made_of_words_of_the_page(heads: set[str]) -> None:
    names = {head for head in heads if not OF_DATA.fullmatch(head)}
    assert len(names) > 100
    spelled = {longer(name) for name in names}
    assert strange(spelled) == {}
    assert replaced(names) == []


def longer(head: str) -> str:
    """With the name that it stands for, or that its words stand for."""
    plain = head.removesuffix(" ×")
    return SHORTER.get(plain) or " ".join(SHORTER.get(word, word) for word in plain.split(" "))


def test_a_head_that_is_shorter_is_in_use_and_stands_for_a_name(heads: set[str]) -> None:
    names = names_of_json() | names_of_tables()
    assert {head: name for head, name in SHORTER.items() if name not in names} == {}
    in_use = {part for head in heads for part in (head.removesuffix(" ×"), *head.split(" "))}
    assert sorted(set(SHORTER) - in_use) == []


def test_no_plain_word_is_there_in_vain(heads: set[str]) -> None:
    names = names_of_json() | names_of_tables() | {longer(head) for head in heads}
    plain = quoted("Plain words")
    used = {word for name in names for part in parts_of(name) for word in of(part, plain)}
    assert sorted(plain - used) == []
    assert sorted(plain & defined()) == [], "what is explained is not plain"


def test_no_report_says_a_word_that_was_replaced(runs: list[RunDir]) -> None:
    for run in runs:
        text = markdown(run)
        assert not re.search(r"\b(published|consumed) −|− (published|output|consumed)\b", text)
        assert "integrity" in text.lower()
        assert "validity" in text.lower()


@pytest.mark.parametrize("name", ["contest", "published_per_s", "broker out", "acknowledged", "why not"])
def test_a_word_of_no_row_is_found(name: str) -> None:
    assert strange({name}) or replaced({name})
