from __future__ import annotations

from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.schedule import LiveSamples, Schedule
from streamgauge.families.fanout.section import Fanout

MS, S = 10**6, 10**9
WALL = 1_700_000_000 * S
SCHEDULE = Schedule(start_ns=5 * S, rate_per_s=100.0, warm_up_count=10, message_count=100)


def heard(samples: LiveSamples, number: int, latency_ms: float, their_offset_ns: int = WALL) -> None:
    due_ns = SCHEDULE.due_ns(number)
    samples.heard(due_ns + their_offset_ns, due_ns + int(latency_ms * MS))


def test_the_first_message_after_the_warm_up_counts_whatever_two_processes_read_of_the_wall_clock() -> None:
    for apart_ns in (-2 * MS, -1, 0, 1, 2 * MS):
        samples = LiveSamples(SCHEDULE, WALL)
        for number in range(100):
            heard(samples, number, 4.0, WALL + apart_ns)
        assert samples.count == 90
        assert samples.sum_ns == 90 * 4 * MS, "nor is the latency of two wall clocks"
        assert samples.by_ms == {4: 90}


def test_what_nobody_sent_is_no_sample() -> None:
    samples = LiveSamples(SCHEDULE, WALL)
    for number in (-1, 100, 100_000):
        heard(samples, number, 4.0)
    assert (samples.count, samples.sum_ns) == (0, 0)


def test_a_warm_up_is_so_many_messages_for_the_sender_and_the_receiver() -> None:
    """Half a second of 25/s is 12 messages: the thirteenth is due within it, and is measured by both."""
    asked = Fanout(clients=(1,), producers=5, pause=0.2, warm_up=0.5, duration=2.0)
    point = FanoutPoint(scenario="3", clients=1, via="gateway", series="gateway", fanout=asked)
    schedule = point.schedule(5 * S)
    assert (schedule.warm_up_count, schedule.message_count) == (12, 62)
    samples = LiveSamples(schedule, WALL)
    for number in range(62):
        samples.heard(schedule.due_ns(number) + WALL, schedule.due_ns(number))
    assert samples.count == 50


def test_a_message_is_known_by_its_time() -> None:
    odd = Schedule(start_ns=3, rate_per_s=7.0, warm_up_count=0, message_count=1000)
    assert [odd.number_at(odd.due_ns(number)) for number in range(1000)] == list(range(1000))
    assert odd.number_at(odd.due_ns(1000)) is None
    assert odd.number_at(odd.due_ns(-1)) is None
