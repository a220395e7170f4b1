from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.agents.pacing import Pacer, Schedule, schedule_of
from streamgauge.core.clock import NS_PER_S
from streamgauge.spec.load import Load

from ..core.properties import untimed

START_NS = 5_000

constant_rates = st.floats(0.5, 2e6)
steps = st.lists(
    st.tuples(st.integers(1, 100_000), st.integers(1000, 5000)).map(
        lambda step: {"rate": step[0], "for": f"{step[1]}ms"}
    ),
    min_size=1,
    max_size=4,
)
rates = st.one_of(constant_rates, steps)


def load_of(rate: Any, **fields: Any) -> Load:
    bound = {} if isinstance(rate, list) else {"messages": 1000}
    return Load.model_construct(**Load.model_validate({"rate": rate, **bound}).__dict__ | fields)


def schedule(rate: Any, number: int = 0, **fields: Any) -> Schedule:
    made = schedule_of(load_of(rate, **fields), number)
    assert made is not None
    return made


def slow_offset_ns(rate: Any, k: int, warm_up: int = 0) -> Fraction:
    """When message k of the case is due, step by step in exact numbers."""
    if not isinstance(rate, list):
        return k * NS_PER_S / Fraction(rate)
    begin = Fraction(0)
    left = Fraction(k)
    for number, step in enumerate(rate):
        per_s, for_ms = step["rate"], int(step["for"].removesuffix("ms"))
        count = Fraction(per_s * for_ms, 1000) + (warm_up if number == 0 else 0)
        if left < count or number == len(rate) - 1:
            return begin + left * NS_PER_S / per_s
        begin += count * NS_PER_S / per_s
        left -= count
    raise AssertionError("there is always a last step")


def test_as_fast_as_it_goes_has_no_schedule() -> None:
    assert schedule_of(load_of("unlimited"), 0) is None


@given(rates, st.integers(0, 100_000), st.sampled_from([0, 7, 1000]))
@untimed
def test_message_k_is_due_where_the_rate_says(rate: Any, first: int, warm_up: int) -> None:
    offsets = schedule(rate, warm_up_messages=warm_up).offsets_ns(first, 20).tolist()
    shift = warm_up if isinstance(rate, list) else 0
    expected = [slow_offset_ns(rate, k, shift) for k in range(first, first + 20)]
    assert all(abs(got - due) <= 1 for got, due in zip(offsets, expected, strict=True))


@given(rates, st.integers(1, 9), st.integers(0, 50), st.integers(1, 60))
@untimed
def test_producers_together_cover_the_whole_schedule_once_and_in_order(
    rate: Any, producers: int, first: int, count: int
) -> None:
    alone = schedule(rate).offsets_ns(first * producers, count * producers)
    shares = [schedule(rate, n, producers=producers).offsets_ns(first, count) for n in range(producers)]
    assert np.stack(shares, axis=1).reshape(-1).tolist() == alone.tolist()
    assert bool((np.diff(alone) >= 0).all())


def test_a_step_begins_where_the_one_before_it_ends() -> None:
    rate = [{"rate": 10, "for": "1000ms"}, {"rate": 100, "for": "100ms"}]
    offsets = schedule(rate).offsets_ns(0, 21) / 1e6
    assert offsets.tolist() == [*range(0, 1000, 100), *range(1000, 1110, 10)]


def test_a_warm_up_goes_ahead_at_the_rate_of_the_first_step() -> None:
    rate = [{"rate": 10, "for": "1000ms"}, {"rate": 100, "for": "100ms"}]
    offsets = schedule(rate, warm_up_messages=5).offsets_ns(0, 17) / 1e6
    assert offsets.tolist() == [*range(0, 1500, 100), 1500, 1510]


def test_a_warm_up_does_not_change_a_constant_rate() -> None:
    assert schedule(100.0, warm_up_messages=50).offsets_ns(49, 3).tolist() == [
        490_000_000,
        500_000_000,
        510_000_000,
    ]


def test_the_last_rate_goes_on_for_ever() -> None:
    rate = [{"rate": 10, "for": "1000ms"}, {"rate": 100, "for": "100ms"}]
    assert schedule(rate).offsets_ns(1010, 2).tolist() == [11 * NS_PER_S, 11 * NS_PER_S + 10_000_000]


@given(rates, st.lists(st.tuples(st.integers(0, 3 * NS_PER_S), st.integers(1, 2000)), max_size=30))
@untimed
def test_a_pacer_gives_out_each_message_once_when_it_is_due(rate: Any, walk: list[tuple[int, int]]) -> None:
    plan = schedule(rate)
    pacer = Pacer(plan, START_NS)
    sequence, now_ns = 0, START_NS
    for pause_ns, most in walk:
        now_ns += pause_ns
        due = pacer.due(sequence, now_ns, most)
        assert len(due) <= most
        assert due.tolist() == (plan.offsets_ns(sequence, len(due)) + START_NS).tolist()
        assert not len(due) or due[-1] <= now_ns
        sequence += len(due)
        if not len(due):
            assert pacer.next_due_ns(sequence) > now_ns
        assert pacer.next_due_ns(sequence) == int(plan.offsets_ns(sequence, 1)[0]) + START_NS


def test_a_message_is_due_at_its_very_time_and_not_before() -> None:
    pacer = Pacer(schedule(1000.0), START_NS)
    assert pacer.due(0, START_NS - 1, 10).tolist() == []
    assert pacer.due(0, START_NS, 10).tolist() == [START_NS]
    assert pacer.due(1, START_NS + 999_999, 10).tolist() == []
    assert pacer.due(1, START_NS + 1_000_000, 10).tolist() == [START_NS + 1_000_000]


def test_after_a_stall_everything_overdue_comes_at_its_own_time() -> None:
    pacer = Pacer(schedule(1000.0), START_NS)
    got: list[int] = []
    while len(due := pacer.due(len(got), START_NS + 5 * NS_PER_S, 1000)):
        got += due.tolist()
    assert got == [START_NS + k * 1_000_000 for k in range(5001)]
