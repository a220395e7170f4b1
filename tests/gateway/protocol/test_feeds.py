from __future__ import annotations

import pytest

from streamgauge.gateway.protocol.feeds import Feed, new_feed

from .followers import Notebook


def feed(mode: str, *, snapshot_expected: bool = False) -> tuple[Feed, Notebook]:
    made = new_feed(mode, snapshot_expected=snapshot_expected, remembered=3)  # type: ignore[arg-type]
    return made, Notebook(made)


def shown(made: Feed, length: int | None = None) -> list[dict[str, str | None]]:
    return [dict(event.values) for event in made.snapshot(length)]


def test_a_merge_item_is_a_row_that_changes() -> None:
    made, book = feed("MERGE")
    assert shown(made) == []
    made.publish({"a": "1", "b": "2"}, 0)
    made.publish({"b": None}, 0)
    assert book.told == [{"a": "1", "b": "2"}, {"a": "1", "b": None}]
    assert shown(made) == [{"a": "1", "b": None}]
    made.clear(0)
    assert book.told[-1] == {"a": None, "b": None}


def test_a_merge_item_that_was_never_published_has_nothing_to_clear() -> None:
    made, book = feed("MERGE")
    made.clear(0)
    assert book.told == []


def test_a_raw_item_remembers_nothing() -> None:
    made, book = feed("RAW")
    made.publish({"a": "1"}, 0)
    made.publish({"b": "2"}, 0)
    made.clear(0)
    assert book.told == [{"a": "1"}, {"b": "2"}]
    assert shown(made) == []


def test_a_distinct_item_remembers_its_newest_events() -> None:
    made, book = feed("DISTINCT")
    for number in range(5):
        made.publish({"n": str(number)}, 0)
    assert [row["n"] for row in shown(made)] == ["2", "3", "4"]
    assert [row["n"] for row in shown(made, 2)] == ["3", "4"]
    made.clear(0)
    assert book.told[-1] == "CS"
    assert shown(made) == []


def test_a_command_item_is_a_table() -> None:
    made, book = feed("COMMAND")
    made.publish({"key": "x", "command": "ADD", "n": "1", "m": "1"}, 0)
    made.publish({"key": "y", "command": "UPDATE", "n": "2"}, 0)
    made.publish({"key": "x", "command": "ADD", "n": "3"}, 0)
    made.publish({"key": "z", "command": "DELETE"}, 0)
    assert book.told == [
        {"key": "x", "command": "ADD", "n": "1", "m": "1"},
        {"key": "y", "command": "ADD", "n": "2"},
        {"key": "x", "command": "UPDATE", "n": "3", "m": "1"},
    ]
    assert shown(made) == [
        {"key": "x", "command": "ADD", "n": "3", "m": "1"},
        {"key": "y", "command": "ADD", "n": "2"},
    ]
    made.publish({"key": "x", "command": "UPDATE", "n": "4"}, 0)
    made.publish({"key": "y", "command": "DELETE", "n": "9"}, 0)
    assert book.told[-2:] == [
        {"key": "x", "command": "UPDATE", "n": "4", "m": "1"},
        {"key": "y", "command": "DELETE"},
    ]
    made.clear(0)
    assert shown(made) == []


def test_newcomers_get_the_same_row_object_so_that_its_lines_are_shared() -> None:
    made, _ = feed("COMMAND")
    made.publish({"key": "x", "command": "ADD"}, 0)
    made.publish({"key": "x", "command": "UPDATE"}, 0)
    assert next(iter(made.snapshot(None))) is next(iter(made.snapshot(None)))


@pytest.mark.parametrize(
    "fields",
    [{}, {"key": "x"}, {"command": "ADD"}, {"key": None, "command": "ADD"}, {"key": "x", "command": "MOVE"}],
)
def test_rows_without_key_or_command_are_passed_over(fields: dict[str, str | None]) -> None:
    made, book = feed("COMMAND")
    made.publish(fields, 0)
    assert book.told == []


def test_the_end_of_a_snapshot_is_told_once() -> None:
    made, book = feed("COMMAND", snapshot_expected=True)
    assert not made.snapshot_complete
    made.end_of_snapshot()
    made.end_of_snapshot()
    assert book.told == ["EOS"]
    other, other_book = feed("DISTINCT")
    other.end_of_snapshot()
    assert other_book.told == []
