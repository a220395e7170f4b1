from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.recording.background import BackgroundWriter
from streamgauge.recording.columns import SEAL_AFTER_NS, ReceiveColumns, SendColumns
from streamgauge.tables.events import RECEIVES, SENDS

from ..core.properties import few_untimed
from .conftest import SMALL_CHUNK
from .recorder import Recorder

pytestmark = pytest.mark.usefixtures("small_chunks")

PRODUCER, CONSUMER = 3, 2
START_NS = 1_000_000 * SEAL_AFTER_NS
"""Like a machine that has been up for weeks: far from 0."""


@dataclass
class Told:
    sequences: Any
    partitions: Any
    offsets: Any
    errors: dict[int, str] = field(default_factory=dict)


def told(
    sequences: list[int], *, partition: Any = 0, offsets: list[int] | None = None, errors: Any = ()
) -> Told:
    where = np.array(sequences if offsets is None else offsets, np.int64)
    return Told(np.array(sequences, np.int64), partition, where, dict(errors))


class Sending:
    """Fills `SendColumns`, and keeps beside it what its rows must be."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
        self.expected: list[dict[str, Any]] = []
        self.unacked: list[int] = []
        self.now_ns = START_NS

    def add(self, count: int) -> None:
        first = len(self.expected)
        self.now_ns += 1000
        sizes = np.arange(first, first + count) + 100
        intended = np.arange(first, first + count) + START_NS - 5
        self.columns.add(count, first % 2, sizes, intended, self.now_ns)
        self.expected += [
            {
                "producer": PRODUCER,
                "sequence": sequence,
                "topic": first % 2,
                "partition": None,
                "offset": None,
                "size_bytes": 100 + sequence,
                "intended_ns": START_NS - 5 + sequence,
                "sent_ns": self.now_ns,
                "acked_ns": None,
                "error": None,
            }
            for sequence in range(first, first + count)
        ]
        self.unacked += range(first, first + count)

    def ack(self, sequences: list[int], *, one_partition: bool, failed: set[int]) -> None:
        self.now_ns += 1000
        errors = {sequence: f"no luck with {sequence}" for sequence in failed}
        nowhere = np.isin(sequences, list(failed))
        partitions = np.where(nowhere, -1, np.array(sequences) % 3).astype(np.int32)
        offsets = np.where(nowhere, -1, np.array(sequences) * 10)
        where: Any = 7 if one_partition else partitions
        self.columns.add_acks(Told(np.array(sequences), where, offsets, errors), self.now_ns)
        for row, sequence in enumerate(sequences):
            known = sequence not in failed
            self.expected[sequence] |= {
                "acked_ns": self.now_ns,
                "partition": 7 if one_partition else int(partitions[row]) if known else None,
                "offset": 10 * sequence if known else None,
                "error": errors.get(sequence),
            }
            self.unacked.remove(sequence)

    def check(self) -> None:
        self.columns.close()
        rows = sorted(self.recorder.rows(SENDS), key=lambda row: row["sequence"])
        assert rows == self.expected
        failed = sum(row["error"] is not None for row in self.expected)
        acked = sum(row["acked_ns"] is not None for row in self.expected) - failed
        assert (self.columns.sent, self.columns.acked, self.columns.failed) == (len(rows), acked, failed)
        assert self.recorder.files.rows.get("sends", 0) == len(rows)


@given(data=st.data(), steps=st.lists(st.integers(0, 2 * SMALL_CHUNK + 1), max_size=14))
@few_untimed
def test_rows_are_right_with_acks_in_any_order_across_chunks_with_errors_and_missing(
    data: st.DataObject, steps: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sending = Sending(Recorder(folder))
        for count in steps:
            if count:
                sending.add(count)
            if sending.unacked:
                acked = data.draw(st.lists(st.sampled_from(sending.unacked), unique=True))
                if acked:
                    one_partition = data.draw(st.booleans())
                    failed = set() if one_partition else data.draw(st.sets(st.sampled_from(acked)))
                    sending.ack(acked, one_partition=one_partition, failed=failed)
        sending.check()


@pytest.mark.parametrize("count", [SMALL_CHUNK - 1, SMALL_CHUNK, SMALL_CHUNK + 1, 3 * SMALL_CHUNK])
def test_one_batch_may_end_before_at_or_after_the_edge_of_a_chunk(recorder: Recorder, count: int) -> None:
    sending = Sending(recorder)
    sending.add(count)
    sending.ack(list(range(count)), one_partition=False, failed=set())
    sending.check()


def test_a_full_chunk_is_written_when_its_last_ack_has_come_and_not_before(recorder: Recorder) -> None:
    sending = Sending(recorder)
    sending.add(SMALL_CHUNK + 1)
    sending.ack(list(range(1, SMALL_CHUNK + 1)), one_partition=True, failed=set())
    assert recorder.rows(SENDS) == []
    sending.ack([0], one_partition=True, failed=set())
    assert [row["sequence"] for row in recorder.rows(SENDS)] == list(range(SMALL_CHUNK))


def test_one_missing_ack_does_not_keep_later_chunks_from_being_written(recorder: Recorder) -> None:
    sending = Sending(recorder)
    sending.add(3 * SMALL_CHUNK)
    sending.add(1)
    sending.ack(list(range(1, 3 * SMALL_CHUNK)), one_partition=True, failed=set())
    written = sorted(row["sequence"] for row in recorder.rows(SENDS))
    assert written == list(range(SMALL_CHUNK, 3 * SMALL_CHUNK))
    sending.check()


def test_a_chunk_used_again_keeps_nothing_of_what_it_held(recorder: Recorder) -> None:
    sending = Sending(recorder)
    for _ in range(6):
        sending.add(SMALL_CHUNK)
        acked = list(sending.unacked)
        sending.ack(acked, one_partition=False, failed={acked[0]})
    sending.add(SMALL_CHUNK)
    sending.check()


def test_sends_a_moment_apart_are_in_one_part(recorder: Recorder) -> None:
    sending = Sending(recorder)
    for _ in range(3):
        sending.add(1)
    sending.ack([0, 1, 2], one_partition=True, failed=set())
    sending.check()
    assert len(recorder.parts(SENDS)) == 1


def test_a_chunk_that_has_been_open_for_long_is_written_soon(recorder: Recorder) -> None:
    sending = Sending(recorder)
    sending.add(2)
    sending.ack([0, 1], one_partition=True, failed=set())
    sending.now_ns += SEAL_AFTER_NS
    sending.add(1)
    assert [row["sequence"] for row in recorder.rows(SENDS)] == [0, 1]
    assert recorder.writer.soon == [True]
    sending.check()


def test_full_chunks_are_in_no_hurry(recorder: Recorder) -> None:
    sending = Sending(recorder)
    sending.add(SMALL_CHUNK)
    sending.ack(sending.unacked[:], one_partition=True, failed=set())
    sending.add(1)
    assert recorder.writer.soon == [False]


def test_an_offset_nobody_told_is_null_while_the_ack_is_known(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
    columns.add(1, 0, np.array([10]), np.array([START_NS]), START_NS)
    columns.add_acks(told([0], partition=0, offsets=[-1]), START_NS + 1)
    columns.close()
    (row,) = recorder.rows(SENDS)
    assert (row["acked_ns"], row["partition"], row["offset"]) == (START_NS + 1, 0, None)


def test_nothing_sent_is_no_file(recorder: Recorder) -> None:
    SendColumns(PRODUCER, recorder.files, recorder.writer).close()
    ReceiveColumns(CONSUMER, recorder.files, recorder.writer).close()
    assert list(recorder.run.list_files("")) == []


def record(count: int, first: int, *, broker_time: int = 2, partition: Any = 1) -> dict[str, Any]:
    numbers = np.arange(first, first + count)
    return {
        "state": (numbers % 3).astype(np.int8),
        "producer": (numbers % 2).astype(np.int32),
        "sequence": numbers + 1000,
        "topic": 0,
        "partition": partition,
        "offset": numbers * 2,
        "size_bytes": numbers + 50,
        "broker_ms": numbers + 7,
        "broker_time": np.full(count, broker_time, np.int8),
    }


@given(st.lists(st.tuples(st.integers(1, 3 * SMALL_CHUNK), st.integers(0, 2), st.booleans()), max_size=8))
@few_untimed
def test_receives_are_rows_in_the_order_of_arrival_over_any_chunk_edges(
    batches: list[tuple[int, int, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(folder)
        columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
        expected: list[dict[str, Any]] = []
        for count, broker_time, one_partition in batches:
            first = len(expected)
            partition: Any = 1 if one_partition else np.arange(count, dtype=np.int32)
            columns.add(count, record(count, first, broker_time=broker_time, partition=partition), first + 1)
            expected += [
                {
                    "consumer": CONSUMER,
                    "arrival": first + row,
                    "state": (first + row) % 3,
                    "producer": (first + row) % 2,
                    "sequence": first + row + 1000,
                    "topic": 0,
                    "partition": 1 if one_partition else row,
                    "offset": 2 * (first + row),
                    "size_bytes": first + row + 50,
                    "broker_ms": first + row + 7 if broker_time else None,
                    "broker_time": broker_time,
                    "received_ns": first + 1,
                }
                for row in range(count)
            ]
        columns.close()
        assert recorder.rows(RECEIVES) == expected
        assert columns.received == len(expected)


@pytest.mark.parametrize(("later_ns", "parts"), [(1000, 1), (SEAL_AFTER_NS + 1, 2)])
def test_receives_open_for_long_are_written_apart(recorder: Recorder, later_ns: int, parts: int) -> None:
    columns = ReceiveColumns(CONSUMER, recorder.files, recorder.writer)
    columns.add(2, record(2, 0), START_NS)
    columns.add(1, record(1, 2), START_NS + later_ns)
    columns.close()
    assert [part.num_rows for part in recorder.parts(RECEIVES)] == ([3] if parts == 1 else [2, 1])


def test_the_background_writer_writes_the_same_rows(recorder: Recorder) -> None:
    recorder.writer = BackgroundWriter()
    sending = Sending(recorder)
    for _ in range(20):
        sending.add(SMALL_CHUNK - 1)
        sending.ack(sending.unacked[1:], one_partition=False, failed=set())
    sending.columns.close()
    recorder.writer.close()
    rows = sorted(recorder.rows(SENDS), key=lambda row: row["sequence"])
    assert rows == sending.expected


def test_where_everything_is_sent_to_is_known_without_acks(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer, place=(0, 5))
    columns.add(2, 0, np.array([10, 10]), np.array([START_NS, START_NS]), START_NS)
    columns.add_acks(told([0], partition=-1, offsets=[-1], errors={0: "no"}), START_NS + 1)
    columns.close()
    assert [row["partition"] for row in recorder.rows(SENDS)] == [5, 5]


def test_without_completions_chunks_do_not_wait_for_acks(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer, completions=False)
    for _ in range(4):
        columns.add(SMALL_CHUNK, 0, np.full(SMALL_CHUNK, 10), np.full(SMALL_CHUNK, START_NS), START_NS)
    assert len(recorder.rows(SENDS)) == 2 * SMALL_CHUNK
    columns.add_acks(told([3 * SMALL_CHUNK], offsets=[-1], errors={3 * SMALL_CHUNK: "too large"}), START_NS)
    columns.close()
    rows = recorder.rows(SENDS)
    assert len(rows) == 4 * SMALL_CHUNK
    assert [row["error"] for row in rows if row["error"]] == ["too large"]


def test_how_far_acks_say_that_partitions_go(recorder: Recorder) -> None:
    columns = SendColumns(PRODUCER, recorder.files, recorder.writer)
    assert columns.acked_ends() == {}
    columns.follow_ends(topics=2, partitions=3)
    for topic in (0, 1):
        columns.add(4, topic, np.full(4, 10), np.full(4, START_NS), START_NS)
    columns.add_acks(told([3, 0, 1], partition=np.array([2, 1, 1]), offsets=[70, 9, 30]), START_NS)
    columns.add_acks(told([5, 4], partition=np.array([0, -1]), offsets=[0, -1], errors={4: "no"}), START_NS)
    assert columns.acked_ends() == {(0, 1): 31, (0, 2): 71, (1, 0): 1}


def test_a_few_rows_and_acks_one_by_one_are_the_same_as_slices(tmp_path: Any) -> None:
    """Each way in a folder of its own, over the edge of a chunk, with acks in another order than sends."""
    count = SMALL_CHUNK + 3
    numbers = np.arange(count)
    recorders = [Recorder(str(tmp_path / name)) for name in ("one", "many")]
    ends = []
    for recorder, at_once in zip(recorders, (1, count), strict=True):
        sends = SendColumns(PRODUCER, recorder.files, recorder.writer)
        sends.follow_ends(topics=1, partitions=2)
        for first in range(0, count, at_once):
            own = slice(first, first + at_once)
            times = numbers[own] + START_NS
            sends.add(at_once, 0, numbers[own] + 7, times - 5, times.tolist() if at_once == 1 else times)
        # The first ack comes last, when its chunk is no longer the newest.
        order = np.roll(numbers, -1)
        for first in range(0, count, at_once):
            acks = order[first : first + at_once]
            sends.add_acks(Told(acks, np.array(acks % 2, np.int32), 10 * acks), START_NS + count)
        assert (sends.sent, sends.acked, sends.failed) == (count, count, 0)
        ends.append(sends.acked_ends())
        sends.close()
    one, many = (sorted(r.rows(SENDS), key=lambda row: row["sequence"]) for r in recorders)
    assert one == many
    assert len(one) == count
    assert ends[0] == ends[1] != {}


def test_a_record_that_comes_alone_is_the_same_row(tmp_path: Any) -> None:
    names = ("state", "producer", "sequence", "topic", "partition", "offset", "size_bytes", "broker_ms")
    count, recorders = SMALL_CHUNK + 2, [Recorder(str(tmp_path / name)) for name in ("one", "many")]
    values = {name: np.arange(count) % 3 + place for place, name in enumerate(names)}
    values["broker_time"] = np.arange(count) % 3
    one, many = (ReceiveColumns(CONSUMER, recorder.files, recorder.writer) for recorder in recorders)
    for row in range(count):
        one.add_row(START_NS + row, **{name: int(column[row]) for name, column in values.items()})
    many.add(count, values, np.arange(count) + START_NS)
    assert one.received == many.received == count
    for columns in (one, many):
        columns.close()
    assert recorders[0].rows(RECEIVES) == recorders[1].rows(RECEIVES)
