from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.live_file import ACK_TIMES, STAGE
from streamgauge.plan.fault_file import FaultRecord, note_faults
from streamgauge.serve.live_look import LiveLook

from .live_run import BEGUN_S, NAME, LiveRun

MS, S = 1_000_000, 1_000_000_000


@pytest.fixture
def live(tmp_path: Path) -> LiveRun:
    return LiveRun(tmp_path)


class Clock:
    def __init__(self) -> None:
        self.second = 0

    def __call__(self) -> float:
        return BEGUN_S + self.second


def test_before_anything_is_told_there_is_the_run_and_its_case(live: LiveRun) -> None:
    seen = LiveLook(live.run, Clock())
    told = seen.look()
    assert (told["run"], told["case"], told["target"], told["is_over"]) == (NAME, "001", "kafka", False)
    assert told["counts"]["planned"] == 30_000
    assert list(seen.rows) == []


def test_rates_latencies_and_cores_come_from_two_looks(live: LiveRun) -> None:
    clock = Clock()
    seen = LiveLook(live.run, clock)
    for second in (1, 2):
        clock.second = second
        live.tell("producer-0", "sent", second, 600 * second)
        live.tell("producer-1", "sent", second, 400 * second)
        live.tell("consumer-0", "received", second, 900 * second, buckets=[[MS, 98], [9 * MS, 1]])
        live.tell("consumer-1", "received", second, 90 * second, buckets=[[2 * MS, 100], [50 * MS, 1]])
        live.tell_resources(second, 1.5 * second)
        told = seen.look()
    assert seen.rows[0][:3] == [1.0, None, None], "one look is no rate"
    at_s, sent, received, p50, p99, greatest, agents, systems = seen.rows[1]
    assert (at_s, sent, received) == (2.0, 1000.0, 990.0)
    assert (p50, greatest) == (2.0, 50.0)
    assert p99 == pytest.approx(9.0, abs=8)
    assert (agents, systems) == (1.0, 1.5), "the machine is not one of the systems"
    unknown = {"failed": None, "damaged": None}
    assert told["counts"] == {"sent": 2000, "received": 1980, "done": 0, "planned": 30_000, **unknown}
    assert told["machine_cores"] == 8
    assert {line["name"] for line in told["resources"]} == {
        *("producer-0", "producer-1", "consumer-0", "consumer-1", "broker-0", "machine")
    }


def test_while_nobody_knows_how_long_a_warm_up_is_nothing_is_planned(tmp_path: Path) -> None:
    """15,250 of 10,000 had been sent, and the bar was full too early."""
    live = LiveRun(tmp_path, messages=10_000, warm_up_messages="auto")
    clock = Clock()
    seen = LiveLook(live.run, clock)
    assert seen.look()["counts"]["planned"] is None
    live.tell("producer-0", "sent", 1, 7000, warm_up=5000)
    live.tell("producer-1", "sent", 1, 6000)
    assert seen.look()["counts"]["planned"] is None, "of one it is not known yet"
    live.tell("producer-1", "sent", 2, 8250, warm_up=5250)
    counts = seen.look()["counts"]
    assert (counts["sent"], counts["planned"]) == (15_250, 20_250)


def test_what_failed_and_what_came_damaged_is_told(live: LiveRun) -> None:
    live.tell("producer-0", "sent", 1, 600, failed=2)
    live.tell("producer-1", "sent", 1, 600, failed=1)
    live.tell("consumer-0", "received", 1, 600, damaged=0)
    counts = LiveLook(live.run, Clock()).look()["counts"]
    assert (counts["failed"], counts["damaged"]) == (3, 0)


def test_times_of_acks_are_named_so(live: LiveRun) -> None:
    live.tell("producer-0", "sent", 1, 600, times_are=ACK_TIMES, buckets=[[MS, 5]])
    assert LiveLook(live.run, Clock()).look()["times_are"] == ACK_TIMES


def test_who_tells_no_more_is_not_counted_for_ever(live: LiveRun) -> None:
    clock = Clock()
    seen = LiveLook(live.run, clock)
    clock.second = 1
    live.tell("producer-0", "sent", 1, 600)
    seen.look()
    clock.second = 60
    seen.look()
    assert len(seen.rows) == 1


def test_what_leads_the_others_has_its_own_words_and_times(live: LiveRun) -> None:
    live.tell("producer-0", "done", 1, 5000, words="cell 2 of 4", completed=3, total=12, times_are="a block")
    told = LiveLook(live.run, Clock()).look()
    assert (told["words"], told["share"], told["times_are"]) == ("cell 2 of 4", 0.25, "a block")
    assert told["counts"]["done"] == 5000


def test_the_stage_is_told(live: LiveRun) -> None:
    live.write(STAGE, {"stage": "warming_up", "since_s": BEGUN_S})
    clock = Clock()
    clock.second = 12
    told = LiveLook(live.run, clock).look()
    assert (told["stage"], told["stage_s"]) == ("warming up", 12)


def test_faults_are_marked_where_they_began_and_where_they_were_over(live: LiveRun) -> None:
    paused = FaultRecord(
        kind="broker_pause", planned_at_s=1, target="broker 1", began_ns=95 * S, ended_ns=98 * S
    )
    to_come = FaultRecord(kind="broker_kill", planned_at_s=9)
    elsewhere = FaultRecord(kind="broker_kill", planned_at_s=1, target="broker 2", began_ns=5_000_000 * S)
    note_faults(live.run, "001", [paused, to_come, elsewhere])
    clock = Clock()
    clock.second = 12
    told = LiveLook(live.run, clock, lambda: 100 * S).look()
    assert told["marks"] == [[7.0, "broker_pause of broker 1"], [10.0, "broker_pause of broker 1 is over"]]


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "null", '{"case": "001"}', '{"case": "001", "tick": "x"}', '"' + "a" * (2 << 20) + '"'],
)
def test_what_cannot_be_read_is_nothing(live: LiveRun, content: str) -> None:
    for name in ("producer-0", "launcher", STAGE):
        live.run.write_text(live.run.live(name), content)
    live.run.write_text(live.run.faults, content)
    told = LiveLook(live.run, Clock()).look()
    assert (told["stage"], told["marks"], told["machine_cores"]) == ("", [], None)


def test_the_end_is_told_with_its_reason(live: LiveRun) -> None:
    live.end()
    told = LiveLook(live.run, Clock()).look()
    assert (told["is_over"], told["state"], told["reason"]) == (True, "partial", "interrupted")
