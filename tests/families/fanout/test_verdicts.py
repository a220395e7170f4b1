"""A cause each: what makes the figures of a point not quotable, from the events of a point that is sound."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import make_plan
from streamgauge.plan.warm_up_file import WarmUp, WarmUpEnding, WarmUpLevels
from streamgauge.spec.workload import Workload
from tests.families.fanout.test_points import MS, WALL, S, client, found_points, sample

CLIENTS, RATE, SECONDS = 4, 50, 6
LATENCY_NS = 20 * MS

Row = dict[str, Any]


def due_ns(number: int) -> int:
    return 100 * S + number * S // RATE


def sent_row(number: int, late_ms: float = 0.0) -> Row:
    sent_ns = due_ns(number) + int(late_ms * MS)
    return {
        "stamp_ns": WALL + due_ns(number),
        "producer": 0,
        "key": -1,
        "size_bytes": 100,
        "is_warm_up": False,
        "intended_ns": due_ns(number),
        "sent_ns": sent_ns,
        "acked_ns": sent_ns + MS,
        "error": None,
    }


def updates_of(sent: list[Row], latency_ns: int = LATENCY_NS) -> list[Row]:
    return [
        {"client": n, "stamp_ns": row["stamp_ns"], "received_ns": row["intended_ns"] + latency_ns}
        for row in sent
        for n in range(CLIENTS)
    ]


def mark(agent: str, mark: str = "start", at_s: float = 90.0, **more: Any) -> Row:
    about = {"case": "001", "agent": agent, "kind": agent.partition("-")[0], "number": 0, "mark": mark}
    clock = {"reference_offset_ns": 0, "reference_error_ns": 0, "wall_offset_ns": 0, "silent_ns": None}
    return {**about, "host": f"clock of {agent}", "hostname": agent, "at_ns": int(at_s * S), **clock, **more}


def marks(error_ns: int = 50_000, **last_reading: Any) -> list[Row]:
    """The swarm's host was asked before and after."""
    read = {"reference_error_ns": error_ns, "silent_ns": 0}
    return [
        mark("producer-0"),
        mark("swarm-0"),
        mark("swarm-0", "clock", 90.0, **read),
        mark("swarm-0", "clock", 107.0, **{**read, **last_reading}),
    ]


def row_of(
    sent: list[Row] | None = None,
    updates: list[Row] | None = None,
    *,
    floor_ms: float | None = None,
    used: Row | None = None,
    slots_ms: list[float] | None = None,
    **more: Any,
) -> Row:
    """`used`: cores of processes, by kind."""
    content = {
        "targets": [{"name": "gateway", "driver": "push_websocket"}],
        "fanout": {
            "clients": [CLIENTS],
            "scenarios": ["1"],
            "producers": RATE,
            "pause": 1.0,
            "duration": SECONDS,
        },
    }
    plan = make_plan(Workload.model_validate(content), "run")
    levels = WarmUpLevels(
        slot_s=0.25, latency_ms=[20.0] * 16 + (slots_ms or []), agents_cores=[], systems_cores=None
    )
    rested = WarmUp(ended=WarmUpEnding.AT_REST, seconds=4, messages={0: 0}, levels=levels)
    cases = [case.model_copy(update={"warm_up": rested}) for case in plan.cases]
    sent = [sent_row(n) for n in range(RATE * SECONDS)] if sent is None else sent
    [row], _ = found_points(
        plan.model_copy(update={"cases": cases}),
        RunStatus(cases={"001": CaseStatus("ok", holds=True)}),
        updates_of(sent) if updates is None else updates,
        [{**client(n, len(sent), is_measured=True), "expected": len(sent)} for n in range(CLIENTS)],
        [
            sample(kind, at, at * cores, 100)
            for kind, cores in {"machine": 0.1, **(used or {})}.items()
            for at in (100.0, 105.0)
        ],
        sent=sent,
        floors={} if floor_ms is None else {"001": floor_ms},
        **{"marks": marks(), **more},
    )
    return row


def causes(*events: Any, **more: Any) -> dict[str, Row]:
    """Of validity, by code; each with its figures."""
    found: dict[str, Row] = {}
    for said in judged_points([row_of(*events, **more)])[1]:
        if said["verdict"] == "validity":
            found.setdefault(said["code"], {"about": said["about"]})[said["figure"]] = said["value"]
    return found


def test_a_sound_point_may_be_quoted() -> None:
    assert causes() == {}


def test_a_point_that_sent_less_than_planned_is_incomplete() -> None:
    found = causes([sent_row(n) for n in range(RATE * SECONDS - 1)])
    assert found["incomplete"] == {"about": None, "measured_count": 299, "planned_count": 300}


def test_a_generator_that_fell_behind_missed_its_rate() -> None:
    found = causes([sent_row(n, late_ms=n / 2) for n in range(RATE * SECONDS)])
    assert found["rate_missed"]["wanted_per_s"] == 50
    assert found["rate_missed"]["sent_per_s"] == pytest.approx(299 / (5.98 + 0.1495))
    assert "rate_missed" not in causes([sent_row(n, late_ms=9) for n in range(RATE * SECONDS)])


@pytest.mark.parametrize(("floor_ms", "about"), [(None, None), (1.0, "generator"), (14.0, "machine")])
def test_who_was_late_is_told_by_the_noise_floor(floor_ms: float | None, about: str | None) -> None:
    found = causes([sent_row(n, late_ms=15) for n in range(RATE * SECONDS)], floor_ms=floor_ms)
    assert found["generator_late"]["about"] == about


@pytest.mark.parametrize("kind", ["swarm", "producer"])
def test_a_client_with_a_whole_core_measures_its_own_queue(kind: str) -> None:
    assert causes(used={kind: 0.84, "gateway": 1.5}) == {}
    found = causes(used={kind: 0.9, "gateway": 1.5})
    assert found["no_cpu_left"]["busiest_client_cores"] == pytest.approx(0.9)


def test_a_ramp_of_a_tenth_is_told_by_slots_of_a_few_seconds() -> None:
    assert causes(slots_ms=[20.0] * 24) == {}
    assert "not_at_rest" in causes(slots_ms=[20.0 + n / 4 for n in range(24)])


def test_clocks_that_may_be_further_apart_than_latencies_are_long() -> None:
    found = causes(marks=marks(error_ns=6_000_000))
    assert found["clock_error"]["latency_p50_ms"] == pytest.approx(20)
    assert found["clock_error"]["clock_error_ms"] == pytest.approx(6, rel=0.01)
    assert causes(marks=marks(error_ns=4_000_000)) == {}


def test_a_clock_that_jumped_is_named_by_its_host() -> None:
    found = causes(marks=marks(reference_offset_ns=500 * MS))
    assert found["clock_jumped"]["about"] == "swarm-0"
    assert found["clock_jumped"]["jump_ms"] == pytest.approx(-500)


def test_a_host_that_was_cut_off_is_named() -> None:
    found = causes(marks=marks(silent_ns=4 * S))
    assert found == {"host_silent": {"about": "swarm-0", "silent_ms": 4000}}


@pytest.mark.parametrize(("extra", "seconds"), [(RATE // 3, SECONDS), (RATE, SECONDS + 1)])
def test_a_part_of_a_second_at_the_end_is_no_second(extra: int, seconds: int) -> None:
    """The median of few is noise."""
    sent = [sent_row(n) for n in range(RATE * SECONDS + extra)]
    late = updates_of(sent[RATE * SECONDS :], 10 * LATENCY_NS)
    row = row_of(sent, [*updates_of(sent[: RATE * SECONDS]), *late])
    assert row["medians_ms"] == pytest.approx([20.0] * SECONDS + [200.0] * (seconds - SECONDS))
