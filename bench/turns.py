"""What one message costs the loops in Python when it comes alone: the time of a turn by the clock, not CPU.

Both sides are in this process, on one thread: a message is sent, and then taken. All are due at once, and a
turn may send one: so every turn has one message, whatever the machine does, and nobody waits.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.agents.acknowledgements import InlineAcks
from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Diary
from streamgauge.agents.live import Live
from streamgauge.agents.receiving import Receiving
from streamgauge.agents.rendezvous import Ends, Levels, Start
from streamgauge.agents.sending import Sending
from streamgauge.core.clock import NS_PER_S, ClockReading, now_ns, sharpen_sleep, sleep_until
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.registry import open_driver
from streamgauge.plan.plan_file import make_plan
from streamgauge.recording.background import BackgroundWriter
from streamgauge.recording.columns import ReceiveColumns, SendColumns
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

_RATE_PER_S = 10**9
_WARM_UP = 20_000
"""Until Java has compiled what it does for each."""
_TAKE_S = 1.0


@dataclass(frozen=True)
class Turns:
    """By the clock; medians, so that a turn in which something else was served does not count."""

    send_us: float
    receive_us: float


def turns_of_one(
    folder: Path, target: Mapping[str, Any], message: Mapping[str, Any], topic: str, count: int
) -> Turns:
    """How long sending and receiving one message takes, through the loops that agents run."""
    load = {
        "messages": count + _WARM_UP,
        "rate": _RATE_PER_S,
        "message": dict(message),
        "topics": {"name": topic},
    }
    workload = parse(Workload, {"name": "turns", "targets": [dict(target)], "load": load}, "bench")
    run = RunDir.create(str(folder), "turns")
    [case] = make_plan(workload, "bench").cases
    driver = open_driver(case.target, {})
    made = driver.prepare_topics(case.load.topics, case.topics)
    offsets = driver.end_offsets(case.topics, case.load.topics.partitions)
    writer = BackgroundWriter()
    sides = {
        task.kind: (Assignment.of(run, case, task, driver.endpoints(), offsets), task) for task in case.agents
    }

    def recording(kind: str) -> tuple[Any, ...]:
        files = EventFiles(run, case.id, sides[kind][1].agent)
        return files, Diary(sides[kind][0], files), Live(sides[kind][0])

    try:
        files, diary, live = recording("consumer")
        received = ReceiveColumns(0, files, writer)
        receiving = Receiving(*_own(sides["consumer"], driver), received, diary, live, lambda: offsets)
        receiving.client.wait_ready(30)
        files, diary, live = recording("producer")
        sent = SendColumns(0, files, writer)
        sending = Sending(*_own(sides["producer"], driver), sent, diary, live)
        sending.most_at_once = 1
        turns = _measured(sending, receiving, sent)
        if sent.sent != received.received or sent.sent != count + _WARM_UP:
            raise RuntimeError(f"{received.received} of {sent.sent} messages came")
        return turns
    finally:
        sending.client.close()
        receiving.client.close()
        driver.remove_topics(made)
        driver.close()
        writer.close()


def _own(side: tuple[Assignment, Any], driver: Any) -> tuple[Any, Any, Any]:
    return side[0], driver, side[1]


def _measured(sending: Sending, receiving: Receiving, sent: SendColumns) -> Turns:
    sharpen_sleep()
    steps = sending.steps(now_ns() + NS_PER_S // 10, InlineAcks(sending.client, sent), _Alone())
    send_ns, receive_ns = list[int](), list[int]()
    spent = 0
    while True:
        due_ns, took_ns = _timed(lambda: next(steps, None))
        spent += took_ns
        if due_ns is None:
            break
        if sent.sent > len(send_ns):
            send_ns.append(spent)
            spent = 0
            until_s = time.monotonic() + _TAKE_S
            while True:
                came, took_ns = _timed(lambda: receiving.take(0.001))
                if came or time.monotonic() > until_s:
                    break
            receive_ns.append(took_ns)
        if due_ns:
            sleep_until(due_ns)
    return Turns(*(statistics.median(times[_WARM_UP:]) / 1e3 for times in (send_ns, receive_ns)))


def _timed(call: Callable[[], Any]) -> tuple[Any, int]:
    begun = time.perf_counter_ns()
    given = call()
    return given, time.perf_counter_ns() - begun


class _Alone:
    """A rendezvous with nobody."""

    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        raise NotImplementedError

    def tell_levels(self, levels: Levels) -> None: ...

    def measured_slot(self) -> int | None:
        return None

    def finished(self, ends: Ends) -> None: ...

    def producers_finished(self) -> bool:
        return False

    def acked_ends(self) -> Ends:
        return {}

    def stopping(self) -> bool:
        return False
