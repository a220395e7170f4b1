from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.steady_state import SLOT_S, Unrest
from streamgauge.launch.levels import levels_of
from streamgauge.launch.meeting import MEASURE, Call
from streamgauge.launch.settling import Settling, look_at
from streamgauge.plan.warm_up_file import Series, WarmUpEnding
from streamgauge.spec.load import Load

LEAD = 2
"""Slots, of a lead of one slot: what is heard late is heard a slot later."""


def load(**fields: Any) -> Load:
    fields = {"messages": 4000, "rate": "1k/s", "warm_up_messages": "auto", "warm_up_limit": "10s"} | fields
    return Load.model_validate(fields)


@pytest.fixture
def call(tmp_path: Path) -> Call:
    return Call(RunDir(str(tmp_path)), "live")


def settling(call: Call, **fields: Any) -> Settling:
    terms = load(**fields).settling
    assert terms is not None
    return Settling(terms, ["producer-0", "consumer-0"], {}, call, SLOT_S)


def test_nothing_is_said_until_it_is_at_rest(call: Call) -> None:
    case = settling(call)
    case.judge(30, None)
    assert call.hear(MEASURE) is None
    case.judge(31, 20)
    assert call.hear(MEASURE) == {"slot": 20}
    assert case.ending is WarmUpEnding.AT_REST


def test_a_measured_time_that_would_be_over_already_begins_later(call: Call) -> None:
    case = settling(call, messages=1000)  # four slots
    case.judge(30, 10)
    assert call.hear(MEASURE) == {"slot": 30 + LEAD - 4}


def test_what_has_no_known_length_begins_when_agents_have_heard_of_it(call: Call) -> None:
    case = settling(call, rate="unlimited")
    case.judge(30, 10)
    assert call.hear(MEASURE) == {"slot": 30 + LEAD}
    case.judge(35, 33)
    assert call.hear(MEASURE) == {"slot": 30 + LEAD}


def test_it_begins_again_when_the_load_has_changed_since(call: Call) -> None:
    case = settling(call)
    case.judge(20, 4)
    assert call.hear(MEASURE) == {"slot": 6}  # 16 slots end not before the word is heard
    case.judge(20, 12)
    assert call.hear(MEASURE) == {"slot": 12}
    case.judge(26, None)
    assert call.hear(MEASURE) == {"slot": 26}
    assert case.ending is WarmUpEnding.AT_REST


def test_rest_that_is_lost_for_one_look_costs_nothing(call: Call) -> None:
    case = settling(call)
    case.judge(20, 6)
    assert call.hear(MEASURE) == {"slot": 6}
    case.judge(20, None)  # put off: it would end before the next look
    assert call.hear(MEASURE) == {"slot": 20}
    case.judge(22, 6)
    assert call.hear(MEASURE) == {"slot": 22 + LEAD - 16}
    assert case.ending is WarmUpEnding.AT_REST


def test_a_short_measured_time_is_not_begun_again_for_one_look(call: Call) -> None:
    case = settling(call, messages=2000)  # two seconds
    case.judge(20, 2)
    assert call.hear(MEASURE) == {"slot": 20 + LEAD - 8}
    case.judge(20, None)
    case.judge(22, 2)
    assert call.hear(MEASURE) == {"slot": 22 + LEAD - 8}


def test_who_ended_before_it_heard_measured_what_was_not_at_rest(call: Call) -> None:
    case = settling(call)
    assert case.outcome({}, []) is None
    case.judge(20, 6)
    case.judge(20, 12)
    heard, unheard = case.outcome({0: 600, 1: 600}, [12, 12]), case.outcome({0: 600, 1: 300}, [12, 6])
    assert heard is not None
    assert unheard is not None
    assert (heard.ended, heard.seconds) == (WarmUpEnding.AT_REST, 3.0)
    assert unheard.ended is WarmUpEnding.UNHEARD


def test_nobody_is_told_what_would_come_too_late(call: Call) -> None:
    case = settling(call)
    case.judge(20, 6)
    case.judge(22, 21)
    assert call.hear(MEASURE) == {"slot": 6}


def test_at_the_limit_measuring_begins_all_the_same(call: Call) -> None:
    case = settling(call)
    case.judge(40, None)
    assert call.hear(MEASURE) == {"slot": 40 + LEAD}
    assert case.ending is WarmUpEnding.LIMIT
    case.judge(50, 45)
    assert call.hear(MEASURE) == {"slot": 40 + LEAD}


def test_a_load_that_changes_again_and_again_comes_to_the_limit(call: Call) -> None:
    case = settling(call)
    case.judge(38, 30)
    case.judge(42, 41)
    assert call.hear(MEASURE) == {"slot": 30}
    assert case.ending is WarmUpEnding.LIMIT


def test_what_would_be_refused_afterwards_is_not_begun(call: Call) -> None:
    """By the rule for medians of seconds; noise had hidden the step from that for slots."""
    stepped = np.concatenate([np.full(20, 0.69), np.full(30, 0.44)])
    case = settling(call, messages=5000)  # twenty slots
    case.judge(30, 12, stepped[:30])
    assert call.hear(MEASURE) is None, "the step lies within"
    case.judge(36, 12, stepped[:36])
    assert case.slot == pytest.approx(20, abs=2), "within half a second"
    outcome = case.outcome({}, [])
    assert outcome is not None
    assert [(waited.series, waited.unrest) for waited in outcome.waited] == [(Series.LATENCY, Unrest.STEP)]
    assert outcome.waited[0].change == pytest.approx(0.44 / 0.69 - 1, abs=0.01)


def test_a_step_while_it_is_measured_begins_it_again(call: Call) -> None:
    stepped = np.concatenate([np.full(28, 0.69), np.full(40, 0.44)])
    case = settling(call, messages=8000, warm_up_limit="60s")  # 32 slots
    case.judge(28, 12, stepped[:28])
    assert call.hear(MEASURE) == {"slot": 12}
    case.judge(40, 12, stepped[:40])
    assert call.hear(MEASURE) == {"slot": 40}, "put off: the last word that is heard in time"
    case.judge(44, 12, stepped[:44])
    assert case.slot == pytest.approx(28, abs=2)


def test_a_step_before_what_is_measured_does_not_matter(call: Call) -> None:
    stepped = np.concatenate([np.full(16, 0.69), np.full(40, 0.44)])
    case = settling(call, messages=4000)  # sixteen slots
    case.judge(40, 0, stepped[:40])
    assert call.hear(MEASURE) == {"slot": 40 + LEAD - 16}


def rest_since(agents: list[list[list[float | None]]], systems_cores: np.ndarray | None) -> int | None:
    systems = None if systems_cores is None else np.cumsum(systems_cores * SLOT_S)
    return look_at(levels_of(agents, systems)).rest


def told(levels: np.ndarray, cores: float | np.ndarray = 0.3) -> list[list[float | None]]:
    """As a consumer says it."""
    cpu_s = np.cumsum(np.broadcast_to(cores, levels.shape) * SLOT_S)
    return [[100, float(level), float(used)] for level, used in zip(levels, cpu_s, strict=True)]


def silent(slots: int) -> list[list[float | None]]:
    """As a producer does."""
    return [[0, None, 0.05 * slot] for slot in range(slots)]


def noise(slots: int, seed: int = 1) -> np.ndarray:
    return np.exp(0.02 * np.random.default_rng(seed).standard_normal(slots))


def test_rest_of_latency_and_cpu_alike() -> None:
    latency = np.where(np.arange(60) < 12, 9e6, 1e6) * noise(60)
    assert rest_since([silent(60), told(latency)], None) == pytest.approx(12, abs=1)
    busy = np.where(np.arange(60) < 30, 1.5, 0.3)
    found = rest_since([silent(60), told(latency, busy)], None)
    assert found is not None
    assert 30 <= found <= 35


def test_systems_have_to_be_at_rest_too() -> None:
    latency = 1e6 * noise(60)
    compiling = np.where(np.arange(60) < 40, 1.0, 0.2) * noise(60, 2)
    assert rest_since([told(latency)], compiling) == pytest.approx(40, abs=2)
    rising = np.linspace(0.1, 1.9, 60)
    assert rest_since([told(latency)], rising) is None


def test_a_plateau_of_a_few_seconds_is_no_rest_where_no_cpu_is_left() -> None:
    # As a cold broker gave it: a backlog of 1.4 s that stood still for five seconds while it compiled.
    latency = np.concatenate([np.linspace(1e8, 1.4e9, 8), 1.4e9 * noise(20)])
    levels = levels_of([told(latency)], None)
    assert look_at(levels).rest is not None
    busy = look_at(levels, 48)
    assert busy.rest is None
    assert busy.waiting is not None
    assert (busy.waiting.series, busy.waiting.unrest) == (Series.LATENCY, Unrest.TOO_SHORT)


def test_too_little_is_known() -> None:
    assert rest_since([told(1e6 * noise(10))], None) is None
    assert rest_since([silent(60)], None) is None


def test_slots_without_a_message_are_bridged() -> None:
    rows = told(1e6 * noise(60))
    for slot in range(0, 60, 5):
        rows[slot][:2] = [0, None]
    assert rest_since([rows], None) == 0


def counted(per_slot: np.ndarray) -> list[list[float | None]]:
    """As a producer says it that goes as fast as it can; a consumer beside it has latencies, too."""
    return [[int(count), None, 0.05 * slot] for slot, count in enumerate(per_slot)]


def received(per_slot: np.ndarray) -> list[list[float | None]]:
    """With a queue before it that grows and grows."""
    return [[int(count), 1e6 * (1 + slot), 0.05 * slot] for slot, count in enumerate(per_slot)]


@pytest.mark.parametrize("has_consumer", [True, False])
def test_what_goes_as_fast_as_it_can_rests_by_its_rate(has_consumer: bool) -> None:
    rate = np.where(np.arange(60) < 15, 9000, 50_000) * noise(60)
    agents = [counted(rate), received(rate)] if has_consumer else [counted(rate)]
    levels = levels_of(agents, None, by_rate=True)
    assert look_at(levels).rest == pytest.approx(15, abs=1)
    kept = levels.kept()
    assert kept.rate_per_s is not None
    assert kept.rate_per_s[-1] == pytest.approx(rate[-1] / SLOT_S, rel=0.01)
    if has_consumer:
        assert look_at(levels_of(agents, None)).rest is None, "its latency is of a queue"


def test_a_rate_that_never_rests_is_waited_for() -> None:
    swinging = 50_000 * (1 + 0.6 * np.sin(np.arange(200) / 4))
    seen = look_at(levels_of([counted(swinging)], None, by_rate=True))
    assert seen.rest is None
    assert seen.waiting is not None
    assert seen.waiting.series is Series.RATE
    silent_slots = levels_of([counted(np.zeros(60))], None, by_rate=True)
    assert silent_slots.rate_per_s is not None
    assert (silent_slots.rate_per_s > 0).all(), "a level has a logarithm"


def test_what_goes_as_fast_as_it_can_is_at_its_limit_before_it_fills_a_disk(call: Call) -> None:
    case = settling(call, rate="unlimited", message={"size": 1000}, most_warm_up_bytes="10MB")
    growing = np.linspace(100, 1500, 20)
    for slots in (10, 20):
        for agent, rows in (("producer-0", counted(growing)), ("consumer-0", received(growing))):
            call.tell(agent, "levels", rows[:slots])
        case._looked_s = 0.0
        case.look()
        assert (case.ending is WarmUpEnding.LIMIT) == (growing[:slots].astype(int).sum() >= 10_000)
    assert call.hear(MEASURE) == {"slot": 20 + LEAD}
