from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.tables.column import Column, Table
from streamgauge.tables.events import EVENT_TABLES, MARKS, SENDS

from .recorder import AGENT, CASE, Recorder

TABLE = Table(
    "things",
    "a thing",
    (
        Column("number", "int64", "its number"),
        Column("weight", "int32", "g", nullable=True),
        Column("name", "string", "what people say", nullable=True),
    ),
)
COLUMNS: dict[str, Any] = {
    "number": np.arange(3),
    "weight": np.ma.array(np.array([5, 6, 7], np.int32), mask=[False, True, False]),
    "name": np.array(["é", None, ""], object),
}
ROWS = [
    {"number": 0, "weight": 5, "name": "é"},
    {"number": 1, "weight": None, "name": None},
    {"number": 2, "weight": 7, "name": ""},
]
SAMPLE: dict[str, Any] = {
    "int8": 1,
    "int32": -5,
    "int64": 2**62,
    "float64": 0.5,
    "string": "text",
    "bool": True,
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[OSError], None]:
    """Makes every write fail after some bytes, as a full disk does."""

    def fail_with(error: OSError) -> None:
        def write_some(content: object, stream: Any, **layout: object) -> None:
            stream.write(b"PAR1half")
            raise error

        monkeypatch.setattr(pq, "write_table", write_some)

    return fail_with


def test_masked_values_are_nulls_and_the_rest_is_as_given(recorder: Recorder) -> None:
    recorder.files.write(TABLE, COLUMNS)
    assert recorder.rows(TABLE) == ROWS


def test_each_write_is_a_part_of_its_own_and_rows_are_counted(recorder: Recorder) -> None:
    recorder.files.write(TABLE, COLUMNS)
    recorder.files.write(TABLE, COLUMNS)
    recorder.files.write_rows(MARKS, [{c.name: SAMPLE[c.kind] for c in MARKS.columns}])
    assert list(recorder.run.list_files("")) == [
        f"events/marks/case={CASE}/{AGENT}-00000.parquet",
        f"events/things/case={CASE}/{AGENT}-00000.parquet",
        f"events/things/case={CASE}/{AGENT}-00001.parquet",
    ]
    assert recorder.files.rows == {"things": 6, "marks": 1}


@pytest.mark.parametrize("table", EVENT_TABLES, ids=lambda table: table.name)
def test_rows_of_every_event_table_are_read_back_with_its_schema(recorder: Recorder, table: Table) -> None:
    full = {column.name: SAMPLE[column.kind] for column in table.columns}
    bare = {c.name: None if c.nullable else SAMPLE[c.kind] for c in table.columns}
    recorder.files.write_rows(table, [full, bare])
    assert recorder.rows(table) == [full, bare]


def test_numbers_that_are_all_alike_are_written_as_they_are_and_others_packed(recorder: Recorder) -> None:
    count = 5000
    numbers = np.arange(count, dtype=np.int32)
    columns: dict[str, Any] = {c.name: np.zeros(count, np.int64) for c in SENDS.columns}
    columns |= {"partition": numbers % 7, "sent_ns": np.arange(count) * 1_000_003, "error": None}
    recorder.files.write(SENDS, columns)
    [path] = recorder.run.list_files(recorder.run.events(SENDS.name))
    group = pq.ParquetFile(recorder.run.local(path)).metadata.row_group(0)
    found = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    packed = {name for name, column in found.items() if "DELTA_BINARY_PACKED" in column.encodings}
    assert packed == {"partition", "sequence", "offset", "intended_ns", "sent_ns", "acked_ns"}
    plain = {name for name, column in found.items() if column.compression == "UNCOMPRESSED"}
    assert plain == {"intended_ns", "sent_ns"}
    assert [row["partition"] for row in recorder.rows(SENDS)] == (numbers % 7).tolist()
    assert all(row["error"] is None for row in recorder.rows(SENDS))


def test_no_rows_are_no_file(recorder: Recorder) -> None:
    recorder.files.write_rows(TABLE, [])
    recorder.files.write(TABLE, {name: values[:0] for name, values in COLUMNS.items()})
    assert list(recorder.run.list_files("")) == []
    assert recorder.files.rows == {}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full; free some space"),
        (OSError("write failed: No space left on device"), "the disk is full; free some space"),
        (OSError(errno.EIO, "Input/output error"), "cannot be written: .*Input/output error"),
    ],
)
def test_a_write_that_fails_is_one_line_and_leaves_nothing(
    recorder: Recorder, failing: Callable[[OSError], None], error: OSError, words: str
) -> None:
    failing(error)
    with pytest.raises(BadInput, match=words) as caught:
        recorder.files.write(TABLE, COLUMNS)
    assert str(caught.value).startswith(recorder.run.url(recorder.run.event_file("things", CASE, AGENT, 0)))
    assert "\n" not in str(caught.value)
    assert list(recorder.run.list_files("")) == []
    assert recorder.files.rows == {}


def test_what_was_written_before_the_disk_was_full_is_kept(
    recorder: Recorder, failing: Callable[[OSError], None]
) -> None:
    recorder.files.write(TABLE, COLUMNS)
    failing(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(BadInput):
        recorder.files.write(TABLE, COLUMNS)
    assert recorder.rows(TABLE) == ROWS
    assert recorder.files.rows == {"things": 3}


def test_a_folder_that_cannot_be_made_is_named(recorder: Recorder) -> None:
    recorder.run.write_text("events", "a file has the name")
    with pytest.raises(BadInput, match="cannot be written"):
        recorder.files.write(TABLE, COLUMNS)
