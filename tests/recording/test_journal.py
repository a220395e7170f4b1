from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.recording import journal as journals
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.recording.gathered import GatheredFiles
from streamgauge.recording.journal import FewRows, Journal, Moments, Streams
from streamgauge.tables.column import Column, Table
from streamgauge.tables.events import RECEIVES, SENDS

from .conftest import SMALL_CHUNK
from .recorder import AGENT, CASE, Recorder
from .test_columns import CONSUMER, PRODUCER, START_NS, record, told

pytestmark = pytest.mark.usefixtures("small_chunks")

LOOKS = Table("looks", "a look", (Column("at_ns", "int64", "when"), Column("who", "string", "whose")))


class Kept:
    """A journal of some streams, and what is in its files."""

    def __init__(self, recorder: Recorder, *columns: SendColumns | ReceiveColumns) -> None:
        self.recorder = recorder
        self.journal = Journal(recorder.run, CASE, AGENT)
        table = SENDS if isinstance(columns[0], SendColumns) else RECEIVES
        streams = Streams(table, lambda: (news for each in columns for news in each.news()))
        self.journal.follow(streams.keep)
        for each in columns:
            each.keep_in(self.journal)

    def files(self) -> list[list[dict[str, Any]]]:
        found = self.recorder.run.list_files(self.recorder.run.journals)
        return [pa.ipc.open_file(self.recorder.run.open_input(path)).read_all().to_pylist() for path in found]


def send(columns: SendColumns, count: int) -> None:
    columns.add(count, 0, np.full(count, 10), np.full(count, START_NS), START_NS)


def test_a_row_is_kept_when_it_is_there_and_once_more_when_its_ack_is(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    send(columns, 3)
    kept.journal.look()
    columns.add_acks(told([1], offsets=[70]), START_NS + 5)
    kept.journal.look()
    kept.journal.look()
    first, second = kept.files()
    assert [(row["sequence"], row["acked_ns"], row["offset"]) for row in first] == [
        (0, 0, -1),
        (1, 0, -1),
        (2, 0, -1),
    ]
    assert [(row["sequence"], row["acked_ns"], row["offset"]) for row in second] == [(1, START_NS + 5, 70)]


def test_why_a_message_failed_is_kept_with_it(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    send(columns, 2)
    columns.add_acks(told([1], offsets=[-1], errors={1: "no"}), START_NS + 5)
    kept.journal.look()
    [rows] = kept.files()
    assert [(row["sequence"], row["error"]) for row in rows] == [(0, None), (1, "no")]


def test_what_is_in_an_event_file_is_no_longer_in_the_journal(recorder: Recorder) -> None:
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    columns.add(SMALL_CHUNK - 1, record(SMALL_CHUNK - 1, 0), START_NS)
    kept.journal.look()
    columns.add(2, record(2, SMALL_CHUNK - 1), START_NS)
    assert recorder.files.rows == {"receives": SMALL_CHUNK}
    assert kept.files() == []
    kept.journal.look()
    [rows] = kept.files()
    assert [row["arrival"] for row in rows] == [SMALL_CHUNK]
    columns.close()
    kept.journal.close()
    assert not recorder.run.has(recorder.run.journal(CASE, AGENT))


def test_many_streams_are_one_file_which_stays_until_the_last_is_written(recorder: Recorder) -> None:
    files = GatheredFiles(recorder.files)
    streams = [SendColumns(n, files, recorder.writer, 10) for n in range(20)]
    kept = Kept(recorder, *streams)
    for columns in streams:
        send(columns, 3)
    kept.journal.look()
    [rows] = kept.files()
    assert [(row["producer"], row["sequence"]) for row in rows] == [
        (n, s) for n in range(20) for s in (0, 1, 2)
    ]
    for columns in streams[:19]:
        columns.close()
    files.flush()
    assert len(kept.files()) == 1
    streams[19].close()
    assert len(kept.files()) == 1, "it is only gathered"
    files.flush()
    assert kept.files() == []


def look(number: int) -> dict[str, Any]:
    return {"at_ns": number, "who": "me"}


def test_rows_that_come_one_by_one_leave_memory_and_the_latest_stay(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "_ROWS_AT_ONCE", 10)
    monkeypatch.setattr(journals, "_LATEST_ROWS", 3)
    journal = Journal(recorder.run, CASE, AGENT)
    rows: list[dict[str, Any]] = []
    few = FewRows(LOOKS, rows, recorder.files)
    journal.follow(few.keep)
    most = 0
    for number in range(100):
        rows.append(look(number))
        journal.look()
        most = max(most, len(rows))
        kept = {
            row["at_ns"]
            for path in recorder.run.list_files(recorder.run.journals)
            for row in pa.ipc.open_file(recorder.run.open_input(path)).read_all().to_pylist()
        }
        written = {row["at_ns"] for row in recorder.rows(LOOKS)}
        assert kept | written == set(range(number + 1))
    assert most == 12
    few.close()
    assert [row["at_ns"] for row in recorder.rows(LOOKS)] == list(range(100))


def test_moments_are_kept_all_together_and_only_when_there_is_another(recorder: Recorder) -> None:
    journal = Journal(recorder.run, CASE, AGENT)
    rows: list[dict[str, Any]] = []
    journal.follow(Moments(LOOKS, lambda: len(rows), lambda: rows).keep)
    journal.look()
    assert list(recorder.run.list_files(recorder.run.journals)) == []
    for number in range(3):
        rows.append(look(number))
        journal.look()
        journal.look()
    [path] = recorder.run.list_files(recorder.run.journals)
    assert pa.ipc.open_file(recorder.run.open_input(path)).read_all().to_pylist() == rows


def test_a_journal_that_cannot_be_written_is_given_up_and_leaves_nothing(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    columns.add(1, record(1, 0), START_NS)
    kept.journal.look()

    def full(journal: Journal) -> None:
        raise BadInput("the disk is full")

    kept.journal.follow(full)
    columns.add(1, record(1, 1), START_NS)
    kept.journal.look()
    assert "no journal of events from now on: the disk is full" in caplog.text
    assert kept.files() == []
    kept.journal.look()
    columns.close()
    assert [row["arrival"] for row in recorder.rows(RECEIVES)] == [0, 1]
