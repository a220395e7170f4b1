from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import kept_after_s
from streamgauge.recording import journal as journals
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.recording.gathered import GatheredFiles
from streamgauge.recording.journal import STOPPED, FewRows, Journal, Moments, Streams
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


class Disk:
    """Full for a while, for files of a journal: its notes are small."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full, as_usual = True, RunDir.open_output

        def open_output(run: RunDir, relative: str) -> Any:
            if self.is_full and relative.endswith(".arrow"):
                raise BadInput("the disk is full")
            return as_usual(run, relative)

        monkeypatch.setattr(RunDir, "open_output", open_output)


def stopped(recorder: Recorder) -> dict[str, Any] | None:
    path = f"{recorder.run.journal(CASE, AGENT)}/{STOPPED}"
    return recorder.run.read_json(path) if recorder.run.has(path) else None


def arrow_rows(recorder: Recorder) -> list[list[dict[str, Any]]]:
    found = recorder.run.list_files(recorder.run.journals, ".arrow")
    return [pa.ipc.open_file(recorder.run.open_input(path)).read_all().to_pylist() for path in found]


def test_what_cannot_be_written_leaves_what_is_there_and_is_tried_again(
    recorder: Recorder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    columns.add(1, record(1, 0), START_NS)
    kept.journal.look()
    disk = Disk(monkeypatch)
    columns.add(1, record(1, 1), START_NS)
    kept.journal.look()
    kept.journal.look()
    assert caplog.text.count("no journal of events for now: the disk is full") == 1
    assert [[row["arrival"] for row in rows] for rows in arrow_rows(recorder)] == [[0]]
    note = stopped(recorder)
    assert note is not None
    assert (note["agent"], note["why"]) == (AGENT, "the disk is full")
    disk.is_full = False
    columns.add(1, record(1, 2), START_NS)
    kept.journal.look()
    assert [[row["arrival"] for row in rows] for rows in arrow_rows(recorder)] == [[0], [1, 2]]
    assert stopped(recorder) is None
    assert "has everything again" in caplog.text
    columns.close()
    assert arrow_rows(recorder) == []
    assert [row["arrival"] for row in recorder.rows(RECEIVES)] == [0, 1, 2]


def test_acks_that_could_not_be_written_are_with_their_rows_the_next_time(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    send(columns, 3)
    kept.journal.look()
    disk = Disk(monkeypatch)
    columns.add_acks(told([1], offsets=[70]), START_NS + 5)
    send(columns, 1)
    kept.journal.look()
    disk.is_full = False
    columns.add_acks(told([0], offsets=[71]), START_NS + 6)
    kept.journal.look()
    kept.journal.look()
    first, second = arrow_rows(recorder)
    assert [row["sequence"] for row in first] == [0, 1, 2]
    assert [(row["sequence"], row["acked_ns"], row["offset"]) for row in second] == [
        (0, START_NS + 6, 71),
        (1, START_NS + 5, 70),
        (3, 0, -1),
    ]


def test_one_source_that_cannot_be_kept_holds_up_no_other(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(journal: Journal) -> None:
        raise BadInput("no")

    journal, rows = Journal(recorder.run, CASE, AGENT), [look(0)]
    journal.follow(fails)
    journal.follow(Moments(LOOKS, lambda: len(rows), lambda: rows).keep)
    journal.look()
    assert arrow_rows(recorder) == [rows]


def test_through_a_network_too_much_at_once_ends_it_and_leaves_what_is_there(
    recorder: Recorder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunDir, "is_local", False)
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    columns.add(1, record(1, 0), START_NS)
    kept.journal.look()
    monkeypatch.setattr(journals, "MOST_BYTES_ELSEWHERE", 10)
    columns.add(1, record(1, 1), START_NS)
    kept.journal.look()
    assert "no journal of events from now on" in caplog.text
    monkeypatch.undo()
    kept.journal.look()
    assert [[row["arrival"] for row in rows] for rows in arrow_rows(recorder)] == [[0]]
    assert stopped(recorder) is not None
    columns.close()
    assert arrow_rows(recorder) == []


@pytest.mark.parametrize(("is_quick", "every_s"), [(True, 1.0), (False, 5.0)])
def test_it_is_written_twice_as_often_as_the_run_promises(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, is_quick: bool, every_s: float
) -> None:
    monkeypatch.setattr(RunDir, "is_quick", is_quick)
    assert Journal(recorder.run, CASE, AGENT).every_s == every_s == kept_after_s(recorder.run) / 2
