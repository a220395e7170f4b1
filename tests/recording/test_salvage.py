from __future__ import annotations

import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import RunStatus, read_status, write_status
from streamgauge.plan.roll_up_file import PART, RollUp
from streamgauge.recording import salvage as salvaging
from streamgauge.recording.columns import ReceiveColumns
from streamgauge.recording.salvage import salvage
from streamgauge.tables.events import RECEIVES, SENDS

from ..core.properties import few_untimed
from .conftest import SMALL_CHUNK
from .recorder import CASE, Recorder
from .test_columns import CONSUMER, START_NS, Sending, record
from .test_journal import Kept

pytestmark = pytest.mark.usefixtures("small_chunks", "killed")


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever recorded is not there any more."""
    monkeypatch.setattr(salvaging, "still_runs", lambda pid, started_s: False)


@given(data=st.data(), steps=st.lists(st.integers(0, 2 * SMALL_CHUNK + 1), max_size=10))
@few_untimed
def test_all_that_was_there_at_the_last_look_is_there_once_whenever_it_is_killed(
    data: st.DataObject, steps: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(salvaging, "still_runs", lambda pid, started_s: False)
        recorder = Recorder(folder)
        sending = Sending(recorder)
        kept = Kept(recorder, sending.columns)
        at_last_look: list[dict[str, Any]] = []
        for count in steps:
            if count:
                sending.add(count)
            if sending.unacked:
                acked = data.draw(st.lists(st.sampled_from(sending.unacked), unique=True))
                if acked:
                    failed = data.draw(st.sets(st.sampled_from(acked)))
                    sending.ack(acked, one_partition=False, failed=failed)
            if data.draw(st.booleans()):
                kept.journal.look()
                at_last_look = [dict(row) for row in sending.expected]
        salvage(recorder.run)
        found = {row["sequence"]: row for row in recorder.rows(SENDS)}
        assert len(found) == len(recorder.rows(SENDS)), "a row twice"
        for row in at_last_look:
            now = sending.expected[row["sequence"]]
            # What was written later has the ack that came meanwhile.
            assert found[row["sequence"]] in (row, now)
        assert all(row == sending.expected[sequence] for sequence, row in found.items() if row["acked_ns"])
        assert not recorder.run.has(recorder.run.journals)


def receiving(recorder: Recorder) -> tuple[ReceiveColumns, Kept]:
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    kept = Kept(recorder, columns)
    columns.add(SMALL_CHUNK + 3, record(SMALL_CHUNK + 3, 0), START_NS)
    kept.journal.look()
    return columns, kept


def arrivals(recorder: Recorder) -> list[int]:
    return sorted(row["arrival"] for row in recorder.rows(RECEIVES))


def test_it_may_be_ended_between_its_file_and_the_end_of_the_journal(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiving(recorder)
    with monkeypatch.context() as ended:
        ended.setattr(RunDir, "remove", lambda run, path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            salvage(recorder.run)
    assert arrivals(recorder) == list(range(SMALL_CHUNK + 3))
    assert salvage(recorder.run) == {"receives": 0}
    assert arrivals(recorder) == list(range(SMALL_CHUNK + 3))


def test_an_agent_killed_between_its_file_and_the_end_of_its_journal_has_each_row_once(
    recorder: Recorder,
) -> None:
    columns, kept = receiving(recorder)
    kept.journal.release = lambda *keys: None  # type: ignore[method-assign]
    columns.close()
    assert salvage(recorder.run) == {"receives": 0}
    assert arrivals(recorder) == list(range(SMALL_CHUNK + 3))


def test_an_agent_that_still_records_is_left_alone(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, _ = receiving(recorder)
    monkeypatch.undo()
    monkeypatch.setattr("streamgauge.recording.columns.CHUNK_ROWS", SMALL_CHUNK)
    assert salvage(recorder.run) == {}
    columns.close()
    assert arrivals(recorder) == list(range(SMALL_CHUNK + 3))


def test_where_nobody_was_killed_there_is_nothing_to_do(recorder: Recorder) -> None:
    assert salvage(recorder.run) == {}


def test_rows_that_were_rolled_up_are_not_put_back(recorder: Recorder) -> None:
    """They are in a journal still, with others that are in no event file yet."""
    sending = Sending(recorder)
    kept = Kept(recorder, sending.columns)
    sending.add(10)
    kept.journal.look()
    part = RollUp(number=1, replaces=(), rest={}, sends=((sending.expected[0]["producer"], 2, 6),))
    recorder.run.write_text(f"{recorder.run.rolled(CASE, 1)}/{PART}", part.model_dump_json())

    assert salvage(recorder.run) == {SENDS.name: 6}

    assert [row["sequence"] for row in recorder.rows(SENDS)] == [0, 1, 6, 7, 8, 9]


def test_of_who_was_killed_while_it_could_not_write_the_run_promises_nothing(
    recorder: Recorder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_status(recorder.run, RunStatus("ok"))
    columns, kept = receiving(recorder)

    def full(table: object, columns: object, keys: object) -> None:
        raise BadInput("the disk is full")

    with monkeypatch.context() as disk:
        disk.setattr(kept.journal, "keep", full)
        columns.add(1, record(1, SMALL_CHUNK + 3), START_NS)
        kept.journal.look()
    salvage(recorder.run)
    assert arrivals(recorder) == list(range(SMALL_CHUNK + 3)), "what was there before stayed"
    assert read_status(recorder.run).kept_after_s is None
    assert "the journal of agent-0 had stopped when it was killed: the disk is full" in caplog.text
    assert not recorder.run.has(recorder.run.journals)
