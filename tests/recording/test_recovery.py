"""What a process had recorded when it was killed is written for it, once, and as it would have been."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.recording import kept
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.recording.kept import Keeping
from streamgauge.recording.recovery import FAILED, recover, rows_before
from streamgauge.tables.events import RECEIVES, SENDS

from .recorder import AGENT, CASE, Recorder
from .test_columns import told

pytestmark = pytest.mark.usefixtures("small_chunks")

START_NS = 7_000_000_000_000


class Held:
    """A writer that never gets to it."""

    def put(self, size_bytes: int, write: Any, soon: bool) -> None: ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "kept"
    found.mkdir()
    return found


def sending(recorder: Recorder, folder: Path, *, writer: Any = None, **how: Any) -> SendColumns:
    return SendColumns(3, recorder.files, writer or recorder.writer, 20, keeping=Keeping(folder), **how)


def add(columns: SendColumns, count: int, topic: int = 0) -> None:
    first = columns.sent
    numbers = np.arange(first, first + count)
    columns.add(count, topic, numbers + 100, numbers + START_NS - 5, numbers + START_NS)


def recovered(recorder: Recorder, folder: Path) -> dict[str, int]:
    return recover(folder, recorder.run, CASE, AGENT)


def test_rows_in_memory_at_the_kill_are_those_that_would_have_been_written(
    recorder: Recorder, folder: Path, tmp_path: Path
) -> None:
    whole = Recorder(str(tmp_path / "whole"))
    plain = SendColumns(3, whole.files, whole.writer, 20)
    lost = sending(recorder, folder)
    for columns in (plain, lost):
        add(columns, 11)
        columns.add_acks(told(list(range(8)), offsets=list(range(50, 58))), START_NS + 900)
        columns.add_acks(told([9, 10], offsets=[60, -1], errors={10: FAILED}), START_NS + 901)
        add(columns, 2)
    plain.close()
    assert len(recorder.rows(SENDS)) == 8  # one chunk was full and told of, so it is written

    counts = recovered(recorder, folder)

    assert counts == {"sends": 13}
    assert recorder.rows(SENDS) == whole.rows(SENDS)
    assert rows_before(recorder.run, CASE, AGENT, START_NS) == {3: 5}


def test_it_is_written_once_even_if_the_kill_came_between_a_file_and_the_note_of_it(
    recorder: Recorder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept.KeptChunk, "end", lambda self: None)
    columns = sending(recorder, folder)
    add(columns, 8)
    columns.add_acks(told(list(range(8))), START_NS + 900)
    add(columns, 3)

    assert recovered(recorder, folder) == {"sends": 11}
    assert [row["sequence"] for row in recorder.rows(SENDS)] == list(range(11))


def test_a_chunk_that_is_used_again_shows_nothing_of_before(recorder: Recorder, folder: Path) -> None:
    columns = sending(recorder, folder, place=(0, 2))
    for first in range(0, 64, 8):
        add(columns, 8)
        columns.add_acks(told(list(range(first, first + 8))), START_NS + 900)
    add(columns, 1)

    assert recovered(recorder, folder) == {"sends": 65}
    last = recorder.rows(SENDS)[-1]
    assert (last["sequence"], last["acked_ns"], last["offset"], last["partition"]) == (64, None, None, 2)


def test_what_was_received_is_there_and_what_waits_for_its_writer_too(
    recorder: Recorder, folder: Path
) -> None:
    columns = ReceiveColumns(2, recorder.files, Held(), 20, keeping=Keeping(folder))  # type: ignore[arg-type]
    for number in range(10):
        columns.add_row(START_NS + number, 0, 3, number, 0, 1, number, 64, 5, 1)

    assert recovered(recorder, folder) == {"receives": 10}
    rows = recorder.rows(RECEIVES)
    assert [(row["consumer"], row["arrival"], row["sequence"]) for row in rows] == [
        (2, number, number) for number in range(10)
    ]


def test_nothing_is_made_of_an_agent_that_recorded_nothing(recorder: Recorder, folder: Path) -> None:
    sending(recorder, folder)
    assert recovered(recorder, folder) == {}


_DIES = """
import os, signal, sys
from pathlib import Path
from streamgauge.recording.kept import Keeping
from streamgauge.tables.events import RECEIVES
chunk = Keeping(Path(sys.argv[1])).chunk(RECEIVES, 8, number=2)
chunk.begin(40)
chunk.columns["received_ns"][:3] = 77
chunk.columns["sequence"][:3] = [4, 5, 6]
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_outlives_a_process_that_is_killed(recorder: Recorder, folder: Path) -> None:
    died = subprocess.run([sys.executable, "-c", _DIES, str(folder)], timeout=60, check=False)
    assert died.returncode == -9

    assert recovered(recorder, folder) == {"receives": 3}
    assert [(row["arrival"], row["sequence"]) for row in recorder.rows(RECEIVES)] == [
        (40, 4),
        (41, 5),
        (42, 6),
    ]


def test_where_there_is_no_room_it_is_said_before_anything_is_measured(
    recorder: Recorder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(BadInput, match="no room for what is recorded: No space left on device"):
        sending(recorder, folder)
