from __future__ import annotations

import numpy as np

from streamgauge.families.fanout.heard_updates import HeardUpdates, LiveSamples, NewUpdates
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.schedule import Schedule
from streamgauge.families.fanout.section import Fanout

MS, S = 10**6, 10**9
WALL = 1_700_000_000 * S
SCHEDULE = Schedule(start_ns=5 * S, rate_per_s=100.0, warm_up_count=10, measured_count=90)


def hear(updates: HeardUpdates, number: int, latency_ms: float, their_offset_ns: int = WALL) -> None:
    due_ns = SCHEDULE.due_ns(number)
    updates.add(number % 3, due_ns + their_offset_ns, due_ns + int(latency_ms * MS))


def counted(updates: HeardUpdates, schedule: Schedule = SCHEDULE) -> LiveSamples:
    samples = LiveSamples(updates, lambda: schedule, WALL)
    samples.catch_up()
    return samples


def test_the_first_message_after_the_warm_up_counts_whatever_two_processes_read_of_the_wall_clock() -> None:
    for apart_ns in (-2 * MS, -1, 0, 1, 2 * MS):
        updates = HeardUpdates()
        for number in range(100):
            hear(updates, number, 4.0, WALL + apart_ns)
        samples = counted(updates)
        assert samples.count == 90
        assert samples.sum_ns == 90 * 4 * MS, "nor is the latency of two wall clocks"
        assert samples.by_ms == {4: 90}


def test_many_at_once_are_what_one_by_one_are() -> None:
    one_by_one, at_once = HeardUpdates(), HeardUpdates()
    for number in range(100):
        hear(one_by_one, number, 4.0)
    at_once.extend(one_by_one.clients, one_by_one.stamps_ns, one_by_one.received_ns)
    assert len(at_once) == 100
    assert at_once.clients.tolist() == one_by_one.clients.tolist()
    assert counted(at_once).by_ms == counted(one_by_one).by_ms == {4: 90}


def test_what_nobody_sent_is_no_sample() -> None:
    updates = HeardUpdates()
    for number in (-1, 100, 100_000):
        hear(updates, number, 4.0)
    samples = counted(updates)
    assert (samples.count, samples.sum_ns) == (0, 0)


def test_a_warm_up_is_so_many_messages_for_the_sender_and_the_receiver() -> None:
    """Half a second of 25/s is 12 messages: the thirteenth is due within it, and is measured by both."""
    asked = Fanout(clients=(1,), producers=5, pause=0.2, warm_up=0.5, duration=2.0)
    point = FanoutPoint(scenario="3", clients=1, via="gateway", series="gateway", fanout=asked)
    schedule = point.schedule(5 * S)
    assert (schedule.warm_up_count, schedule.message_count) == (12, 62)
    updates = HeardUpdates()
    for number in range(62):
        updates.add(0, schedule.due_ns(number) + WALL, schedule.due_ns(number))
    assert counted(updates, schedule).count == 50


def test_what_counts_is_counted_anew_when_measuring_turns_out_to_begin_elsewhere() -> None:
    updates, known = HeardUpdates(), [SCHEDULE.since_slot(None)]
    samples = LiveSamples(updates, lambda: known[-1], WALL)
    for number in range(60):
        hear(updates, number, 7.0 if number < 50 else 2.0)
    samples.catch_up()
    assert samples.count == 0, "nobody knows yet since when they count"
    known.append(SCHEDULE.since_slot(1))  # message 25
    samples.catch_up()
    samples.catch_up()
    assert (samples.count, samples.by_ms) == (35, {7: 25, 2: 10})
    known.append(SCHEDULE.since_slot(2))  # message 50
    samples.catch_up()
    assert samples.told() == {"2": 10}
    assert (samples.count, samples.sum_ns) == (10, 20 * MS)


def test_who_watches_the_load_gets_every_update_once_warm_up_and_all() -> None:
    updates = HeardUpdates()
    new = NewUpdates(updates, SCHEDULE.since_slot(None), WALL)
    for number in range(20_000):
        hear(updates, number, 3.0)
    assert sum(map(len, new.take())) == 20_000
    assert list(new.take()) == []
    hear(updates, -5, 3.0)
    hear(updates, 5, 3.5)
    assert np.concatenate(list(new.take())).tolist() == [int(3.5 * MS)]


def test_columns_are_kept_as_they_came() -> None:
    updates = HeardUpdates()
    assert (len(updates), updates.clients.tolist(), updates.stamps_ns.tolist()) == (0, [], [])
    hear(updates, 2, 1.0)
    assert updates.clients.tolist() == [2]
    assert updates.stamps_ns.tolist() == [SCHEDULE.due_ns(2) + WALL]
    assert updates.received_ns.tolist() == [SCHEDULE.due_ns(2) + MS]
