from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.launch.served_load import SERVED_BYTES_PER_S, served_load, served_load_notes
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

HERE, SHARED, HDFS = RunDir("/runs/one"), RunDir("s3a://bucket/one"), RunDir("hdfs://nn/one")


def cases(**load: Any) -> list[Case]:
    targets = [{"name": "t", "driver": "simulated"}]
    content = {"targets": targets, "load": {"messages": 1000, "topics": {"partitions": 20}, **load}}
    return list(make_plan(Workload.model_validate(content), "run").cases)


def notes(run: RunDir = HERE, address: str | None = "10.0.0.1", **load: Any) -> list[str]:
    return list(served_load_notes(cases(**load), run, address))


def test_a_plan_that_is_more_than_the_launcher_takes_is_said_with_figures() -> None:
    [note] = notes(rate="2M/s", messages="20M", producers=20, consumers=20)
    assert "case 001: events of other hosts go through the launcher: 2M/s are " in note
    assert " MB/s of events from 40 agents while it measures" in note
    assert f"it takes about {SERVED_BYTES_PER_S / 1e6:.0f} MB/s" in note
    assert "s3a://" in note


def test_many_messages_take_their_time_when_the_case_is_over() -> None:
    [note] = notes(messages="1000M", producers=4, consumers=4)
    seconds = 1e9 * 2 * 8.6 / SERVED_BYTES_PER_S
    assert f"17.2 GB of events from 8 agents take it about {seconds:.0f} s at " in note
    assert "when the case is over" in note


def test_as_many_as_go_may_be_as_many_as_agents_can_write() -> None:
    [note] = notes(rate="unlimited", messages="20M", producers=20, consumers=20)
    assert "as many as go are up to 336 MB/s of events from 40 agents while it measures" in note
    [note] = notes(rate="unlimited", messages=None, duration="10s", producers=20, consumers=20)
    assert "as many as go are up to 336 MB/s" in note


def test_of_a_load_in_steps_the_fastest_is_told() -> None:
    steps = [{"rate": "1k/s", "for": "10s"}, {"rate": "1M/s", "for": "10s"}]
    [note] = notes(rate=steps, messages=None, producers=20, consumers=20)
    assert "1M/s are " in note


@pytest.mark.parametrize(
    "load",
    [{"rate": "20k/s"}, {}, {"rate": "20k/s", "consumers": 0}, {"producers": 20, "consumers": 20}],
)
def test_little_is_not_worth_a_word(load: dict[str, Any]) -> None:
    assert notes(**load) == []


def test_agents_that_write_for_themselves_need_no_launcher() -> None:
    much: dict[str, Any] = {"rate": "2M/s", "messages": "20M", "producers": 20, "consumers": 20}
    assert notes(SHARED, **much) == []
    assert notes(HERE, None, **much) == [], "all on this host"
    assert len(notes(HDFS, **much)) == 1, "only the launcher gets there"


def test_a_journal_is_bounded_an_agent() -> None:
    [case] = cases(rate="100M/s", messages="100M", consumers=0)
    found = served_load(case)
    assert found is not None
    assert found.measured_bytes_per_s == 8 * 1024 * 1024
