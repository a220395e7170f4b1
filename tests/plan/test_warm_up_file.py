from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.plan.warm_up_file import (
    PartWarmUp,
    WarmUp,
    WarmUpEnding,
    WarmUpLevels,
    note_warm_up,
    read_warm_ups,
    warm_up_of_parts,
    warmed_up,
)


def test_what_is_noted_is_read_case_by_case(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    assert read_warm_ups(run) == {}
    first = WarmUp(ended=WarmUpEnding.AT_REST, seconds=7.25, messages={0: 700, 1: 701})
    second = WarmUp(ended=WarmUpEnding.LIMIT, seconds=60, messages={0: 3})
    note_warm_up(run, "001", first)
    note_warm_up(run, "002", second)
    assert read_warm_ups(run) == {"001": first, "002": second}


def test_what_was_measured_of_the_levels_begins_where_measuring_did() -> None:
    levels = WarmUpLevels(slot_s=0.25, latency_ms=[9.0, 5.0, 2.0, 2.1, 2.2])
    assert WarmUp(ended=WarmUpEnding.AT_REST, seconds=0.5, levels=levels).measured_slots_ms == [2.0, 2.1, 2.2]
    # Of slots that were looked at together, the first that is measured whole.
    together = WarmUpLevels(slot_s=1.0, latency_ms=[9.0, 5.0, 2.0])
    found = WarmUp(ended=WarmUpEnding.AT_REST, seconds=1.25, levels=together)
    assert found.measured_slots_ms == [2.0]
    assert WarmUp(ended=WarmUpEnding.AT_REST, seconds=0.5).measured_slots_ms == []


def test_something_else_in_its_place_is_said(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    run.write_json(run.warm_ups, {"001": {"ended": "whenever"}})
    with pytest.raises(CorruptRun, match=r"warm_ups\.json: not a record of warm-ups"):
        read_warm_ups(run)


def test_a_task_gets_the_warm_up_that_it_had() -> None:
    assert warmed_up(AgentTask(kind="producer", number=1), {0: 5, 1: 6}).warm_up_messages == 6
    consumer = AgentTask(kind="consumer", number=1)
    assert warmed_up(consumer, {1: 6}) is consumer


def test_each_stream_of_a_task_gets_its_own() -> None:
    streams = tuple(Stream(number=n, topic=0, partition=n) for n in range(3))
    task = warmed_up(AgentTask(kind="producer", number=0, streams=streams), {0: 5, 1: 6, 2: 7})
    assert [stream.warm_up_messages for stream in task.streams] == [5, 6, 7]
    assert task.warm_up_messages == 18


def test_a_case_is_at_rest_when_all_of_its_parts_are(tmp_path: Path) -> None:
    parts = [
        PartWarmUp(part=name, ended=ended, seconds=2.5, messages=5000, blocks_us={"send": [3.0, 2.0]})
        for name, ended in (("one", WarmUpEnding.AT_REST), ("two", WarmUpEnding.LIMIT))
    ]
    found = warm_up_of_parts(parts)
    assert (found.ended, found.seconds, found.rested) == (WarmUpEnding.LIMIT, 5.0, False)
    assert warm_up_of_parts(parts[:1]).rested
    run = RunDir(str(tmp_path))
    note_warm_up(run, "001", found)
    assert read_warm_ups(run) == {"001": found}
