from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamgauge.recording import gathered
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.recording.gathered import GatheredFiles
from streamgauge.tables.events import RECEIVES, SENDS

from .recorder import Recorder
from .test_columns import record, told


def send(columns: SendColumns, count: int) -> None:
    columns.add(count, 1, np.full(count, 64), np.arange(count), 5)


def test_many_streams_make_one_file(recorder: Recorder) -> None:
    files = GatheredFiles(recorder.files)
    streams = [SendColumns(n, files, recorder.writer, 10) for n in range(20)]
    for columns in streams:
        send(columns, 3)
        columns.add_acks(told([0, 1, 2]), 9)
        columns.close()
    assert recorder.parts(SENDS) == []
    files.flush()
    [part] = recorder.parts(SENDS)
    assert part["producer"].to_pylist() == [n for n in range(20) for _ in range(3)]
    assert part["sequence"].to_pylist() == [0, 1, 2] * 20
    assert recorder.files.rows == {"sends": 60}


def test_what_is_gathered_is_not_touched_by_what_comes_later(recorder: Recorder) -> None:
    """Columns use their memory again."""
    files = GatheredFiles(recorder.files)
    columns = ReceiveColumns(0, files, recorder.writer, 4)
    columns.add(4, record(4, 0), 1)
    columns.close()
    columns.add(4, record(4, 100), 2)
    columns.close()
    files.flush()
    assert [row["sequence"] for row in recorder.rows(RECEIVES)] == [
        *range(1000, 1004),
        *range(1100, 1104),
    ]


@pytest.mark.parametrize(("setting", "value"), [("CHUNK_ROWS", 6), ("SEAL_AFTER_NS", -1)])
def test_a_file_is_written_when_it_is_large_or_old(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, setting: str, value: Any
) -> None:
    monkeypatch.setattr(gathered, setting, value)
    files = GatheredFiles(recorder.files)
    columns = ReceiveColumns(0, files, recorder.writer, 6)
    columns.add(6, record(6, 0), 1)
    columns.close()
    assert len(recorder.parts(RECEIVES)) == 1
    files.flush()
    assert len(recorder.parts(RECEIVES)) == 1
