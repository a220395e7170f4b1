from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from streamgauge.agents.live import Live
from streamgauge.agents.sent_so_far import SentSoFar
from streamgauge.core.live_file import ACK_TIMES
from streamgauge.recording.columns import SendColumns

from ..recording.recorder import Recorder
from .conftest import Assign

MS = 1_000_000
START_NS = 10**12


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path / "recorded"))


def send(columns: SendColumns, count: int) -> None:
    due_ns = START_NS + MS * np.arange(columns.sent, columns.sent + count)
    columns.add(count, 0, np.full(count, 100), due_ns, START_NS)


def ack(
    columns: SendColumns, sequences: list[int], after_ms: int, errors: dict[int, str] | None = None
) -> None:
    """So long after each was due."""
    of = np.array(sequences, np.int64)
    told = SimpleNamespace(sequences=of, partitions=0, offsets=of, errors=errors or {})
    columns.add_acks(told, START_NS + MS * (of + after_ms))


def test_without_consumers_the_times_of_acks_are_told_each_once(assign: Assign, recorder: Recorder) -> None:
    assignment = assign("producer-0", consumers=0)
    live, columns = Live(assignment), SendColumns(0, recorder.files, recorder.writer)
    live.look = SentSoFar([columns], dict, live, tells_ack_times=True)
    run = assignment.run_dir
    send(columns, 100)
    ack(columns, list(range(50)), after_ms=3)
    live.publish()
    told = run.read_json(run.live("producer-0"))
    assert sum(count for _, count in told["buckets"]) == 50
    assert told["times_are"] == ACK_TIMES
    assert told["p99_ms"] == pytest.approx(3, rel=0.01)
    ack(columns, list(range(50, 60)), after_ms=7)
    live.publish()
    [[middle_ns, count]] = run.read_json(run.live("producer-0"))["buckets"]
    assert (middle_ns / MS, count) == (pytest.approx(7, rel=0.01), 10)


def test_where_somebody_receives_acks_are_no_latency(assign: Assign, recorder: Recorder) -> None:
    assignment = assign("producer-0")
    live, columns = Live(assignment), SendColumns(0, recorder.files, recorder.writer)
    live.look = SentSoFar([columns], dict, live, tells_ack_times=False)
    send(columns, 10)
    ack(columns, list(range(10)), 3, {4: "no leader"})
    live.publish()
    told = assignment.run_dir.read_json(assignment.run_dir.live("producer-0"))
    assert (told["acked"], told["failed"], told["buckets"]) == (9, 1, [])
    assert not {"times_are", "p99_ms", "warm_up"} & set(told)


def test_the_warm_up_is_told_once_it_is_known_of_every_stream(assign: Assign, recorder: Recorder) -> None:
    live = Live(assign("producer-0"))
    columns = [SendColumns(number, recorder.files, recorder.writer) for number in (0, 1)]
    known = {0: 40}
    told = SentSoFar(columns, lambda: known, live, tells_ack_times=False)
    assert "warm_up" not in told()
    known[1] = 60
    assert told()["warm_up"] == 100
