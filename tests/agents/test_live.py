from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Start

from .conftest import Assign

MS = 1_000_000


def observe(live: Live, number: int, latencies: list[int], producers: list[int] | None = None) -> None:
    producers = producers or [0] * len(latencies)
    intact = np.array([latency >= 0 for latency in latencies])
    live.observe(number, np.array(latencies, np.int64), np.array(producers, np.int32), intact)


def test_counts_and_newest_latencies_are_published(assign: Assign) -> None:
    assignment = assign("consumer-0")
    shown = Live(assignment)
    observe(shown, 0, [1 * MS, 2 * MS, -1])
    observe(shown, 0, [3 * MS])
    shown.count(0, 2)
    shown.count(1, 3)
    shown.publish()
    run = assignment.run_dir
    p99_ms = pytest.approx(np.percentile([1, 2, 3], 99))
    expected = {"case": "001", "kind": "consumer", "messages": 5, "p99_ms": p99_ms}
    told = run.read_json(run.live("consumer-0"))
    assert {name: told[name] for name in expected} == expected
    assert (told["counts"], told["tick"]) == ("received", 1)
    assert told["cpu_s"] > 0 < told["rss_bytes"]


def test_only_what_came_since_the_last_time_is_in_the_buckets(assign: Assign) -> None:
    assignment = assign("consumer-0")
    run, shown = assignment.run_dir, Live(assignment)
    observe(shown, 0, [100, 100, 7])
    shown.publish()
    assert run.read_json(run.live("consumer-0"))["buckets"] == [[7, 1], [100, 2]]
    shown.publish()
    assert run.read_json(run.live("consumer-0"))["buckets"] == []
    observe(shown, 0, [9])
    shown.tell_times(np.array([120], np.int64))
    shown.publish()
    told = run.read_json(run.live("consumer-0"))
    assert (told["buckets"], told["tick"]) == ([[9, 1], [120, 1]], 3)


def test_what_came_damaged_is_told_and_a_batch_on_its_way_is_not(assign: Assign) -> None:
    assignment = assign("consumer-0")
    run, shown = assignment.run_dir, Live(assignment)
    observe(shown, 0, [1 * MS, -1, 3 * MS, -1])
    shown.count(0, 4)
    observe(shown, 0, [1 * MS])  # kept, and not counted yet
    shown.publish()
    assert run.read_json(run.live("consumer-0"))["damaged"] == 1
    shown.count(0, 5)
    shown.publish()
    assert run.read_json(run.live("consumer-0"))["damaged"] == 2


def test_latencies_between_hosts_are_put_right_by_their_clocks(assign: Assign) -> None:
    """Producer 1's host is 40 ms behind the reference, the consumer's 10 ms."""
    shown = Live(assign("consumer-0"))
    shown.set_clock(Start(0, reference_offset_ns=10 * MS, producer_offsets_ns={"0": 0, "1": 40 * MS}))
    observe(shown, 0, [-10 * MS + 10**9, 30 * MS + 5], [0, 1])
    assert shown.rings[0].newest(2).tolist() == [10**9, 5]


def test_producers_keep_no_latencies(assign: Assign) -> None:
    assert Live(assign("producer-0")).rings == {}


def test_the_display_is_not_worth_failing_for(assign: Assign, tmp_path: Path) -> None:
    assignment = assign()
    (tmp_path / "run").write_text("a file has the name of the folder")
    Live(assignment).publish()
    assert (tmp_path / "run").read_text() == "a file has the name of the folder"


def test_one_message_is_seen_as_a_batch_of_one_is(assign: Assign) -> None:
    """Also of a producer that nobody knows, whose clock is taken for that of the nearest number."""
    one, many = (Live(assign(agent="consumer-0")) for _ in range(2))
    start = Start(0, reference_offset_ns=3, producer_offsets_ns={"0": 10, "1": 20})
    for live in (one, many):
        live.set_clock(start)
    for producer in (0, 1, 7, -1):
        one.observe_one(0, 1000, producer)
        many.observe(0, np.array([1000]), np.array([producer], np.int32), np.array([True]))
    assert one.rings[0].newest(9).tolist() == many.rings[0].newest(9).tolist() == [993, 983, 983, 993]
