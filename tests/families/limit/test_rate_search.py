"""The search on laws that are known: it finds the knee, in few trials, whatever the noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.core.outcomes import Outcome
from streamgauge.families.limit.rate_search import Judgement, RateSearch, Trial, judge
from streamgauge.families.limit.section import Search
from tests.core.properties import untimed

STEP_S = 60.0


def search_of(**fields: object) -> Search:
    return Search.model_validate({"slo": ["p99<20ms", "lost=0"], **fields})


def searched(
    search: Search, holds: Callable[[float], bool], most: int = 200
) -> tuple[RateSearch, list[Trial]]:
    trials: list[Trial] = []
    while (rate := RateSearch(search, STEP_S, trials).next_rate()) is not None:
        trials.append(Trial(f"{len(trials):03d}", rate, [] if holds(rate) else ["missed"]))
        assert len(trials) < most, "it has to end"
    return RateSearch(search, STEP_S, trials), trials


@untimed
@given(knee=st.floats(5, 1_900_000), within=st.sampled_from([0.5, 2.0, 5.0]))
def test_the_knee_is_found_wherever_it_is(knee: float, within: float) -> None:
    found, trials = searched(search_of(within_percent=within), lambda rate: rate <= knee)
    assert found.ending == "found"
    assert found.held_per_s is not None
    assert found.broken_per_s is not None
    # Rates have four digits.
    assert found.held_per_s <= knee < found.broken_per_s
    assert found.broken_per_s / found.held_per_s <= 1 + within / 100 + 2e-3
    assert len(trials) <= 2 * (12 + 9) + 2


def test_every_rate_is_tried_twice() -> None:
    _, trials = searched(search_of(), lambda rate: rate <= 43_210)
    rates = [trial.rate_per_s for trial in trials]
    counts = [rates.count(rate) for rate in dict.fromkeys(rates)]
    # The lowest that misses is tried once more in the end, unless it came last anyway.
    assert sorted(counts)[:-1] == [2] * (len(counts) - 1)
    assert max(counts) <= 3
    assert rates[:12:2] == [1000, 2000, 4000, 8000, 16000, 32000]


def test_a_third_trial_settles_what_two_disagree_on() -> None:
    answers = {1000.0: [True, False, True], 2000.0: [False, True, False]}

    def holds(rate: float) -> bool:
        left = answers.get(rate)
        return left.pop(0) if left else rate < 1500

    found, trials = searched(search_of(to=2000), holds)
    rates = [trial.rate_per_s for trial in trials]
    assert rates[:6] == [1000, 1000, 1000, 2000, 2000, 2000]
    assert next(step for step in found.steps if step.rate_per_s == 1000).outcome is Outcome.MET
    assert next(step for step in found.steps if step.rate_per_s == 2000).outcome is Outcome.MISSED


def test_steps_go_down_when_the_first_does_not_hold() -> None:
    found, trials = searched(search_of(), lambda rate: rate <= 130)
    assert [trial.rate_per_s for trial in trials[:8:2]] == [1000, 500, 250, 125]
    assert found.held_per_s == pytest.approx(130, rel=0.02)


def test_it_gives_up_in_the_end_when_nothing_holds() -> None:
    found, trials = searched(search_of(), lambda rate: False)
    assert found.ending == "none held"
    assert found.held_per_s is None
    assert len(trials) == 18


def test_no_step_is_so_slow_that_it_has_nothing_to_judge() -> None:
    trials = [Trial(str(number), rate, ["x"]) for rate in (100, 50) for number in range(2)]
    assert RateSearch(search_of(), 2.0, trials).ending == "none held"
    assert RateSearch(search_of(), 4.0, trials).next_rate() == 25


def test_it_goes_no_further_than_allowed() -> None:
    found, _ = searched(search_of(to="5k/s"), lambda rate: True)
    assert (found.ending, found.held_per_s, found.broken_per_s) == ("all held", 5000, None)


def _is_below(knee: float, noise: list[float], rate: float) -> bool:
    return rate * noise.pop() <= knee


def test_noise_about_the_knee_does_not_keep_it_from_ending_near() -> None:
    for seed in range(50):
        noise = np.random.default_rng(seed).lognormal(0, 0.05, 1000).tolist()
        found, trials = searched(search_of(), partial(_is_below, 43_210, noise))
        assert found.held_per_s == pytest.approx(43_210, rel=0.15)
        assert len(trials) < 45


def test_a_slow_start_does_not_hide_what_the_system_can_do() -> None:
    """A broker whose code is compiled only after twelve trials carries a tenth until then."""
    count = 0

    def holds(rate: float) -> bool:
        nonlocal count
        count += 1
        return rate <= (4000 if count <= 12 else 43_210)

    found, trials = searched(search_of(**{"from": "8k/s"}), holds)
    assert found.held_per_s == pytest.approx(43_210, rel=0.02)
    assert len(trials) < 50


def test_what_missed_at_the_start_is_tried_again_before_the_space_below_is_halved() -> None:
    count = 0

    def holds(rate: float) -> bool:
        nonlocal count
        count += 1
        return count > 4 and rate <= 20_000

    found, trials = searched(search_of(**{"from": "8k/s"}), holds)
    assert [trial.rate_per_s for trial in trials[:8]] == [8000, 8000, 4000, 4000, 2000, 2000, 4000, 4000]
    assert found.held_per_s == pytest.approx(20_000, rel=0.02)


def test_a_rate_that_misses_again_in_the_end_stays_missed() -> None:
    trials = [Trial("", 1000, []), Trial("", 1000, []), Trial("", 1010, ["x"]), Trial("", 1010, ["x"])]
    assert RateSearch(search_of(), STEP_S, trials).ending == "found"
    early = [*trials[2:], *trials[:2]]
    assert RateSearch(search_of(), STEP_S, early).next_rate() == 1010
    assert RateSearch(search_of(), STEP_S, [*early, trials[2]]).ending == "found"
    contested = [*early, Trial("", 1010, [])]
    assert RateSearch(search_of(), STEP_S, contested).next_rate() == 1010
    assert RateSearch(search_of(), STEP_S, [*contested, trials[2]]).ending == "found"
    assert RateSearch(search_of(), STEP_S, [*contested, contested[-1]]).held_per_s == 1010


def test_a_rate_below_one_that_failed_counts_only_when_it_holds_itself() -> None:
    trials = [Trial("1", 100, ["x"]), Trial("2", 100, ["x"]), Trial("3", 200, []), Trial("4", 200, [])]
    found = RateSearch(search_of(), STEP_S, trials)
    assert (found.held_per_s, found.broken_per_s) == (None, 100)


def test_what_is_not_delivered_in_time_does_not_hold_however_lax_the_objective() -> None:
    search = search_of(slo=["p99<1h"])
    figures: dict[str, float | None] = {"p99": 900.0, "delivered_per_s": 800.0}
    assert judge(search, 1000, figures, None).missed == ["only 800 of 1,000 messages a second were delivered"]
    assert judge(search, 1000, {**figures, "delivered_per_s": 990.0}, None).missed == []


def test_what_is_within_its_bounds_on_the_way_up_is_not_decidable() -> None:
    figures: dict[str, float | None] = {"p99": 15.0, "delivered_per_s": 990.0}
    figures |= {"rose_from_ms": 1.0, "rose_to_ms": 14.0}
    said = "not at rest: the median of a second rose from 1 to 14 ms"
    assert judge(search_of(slo=["p99<20ms"]), 1000, figures, None) == Judgement([], [said])
    for lax in (["p99<1s"], ["lost=0"]):
        assert judge(search_of(slo=lax), 1000, {**figures, "lost": 0.0}, None) == Judgement([], [])
    [missed] = judge(search_of(slo=["p99<10ms"]), 1000, figures, None).missed
    assert missed.startswith("p99 was 15 ms"), "that is reason enough"


def test_what_misses_its_bounds_on_the_way_down_is_not_decidable() -> None:
    figures: dict[str, float | None] = {"p99": 25.0, "lost": 0.0, "delivered_per_s": 990.0}
    figures |= {"fell_from_ms": 9.0, "fell_to_ms": 1.0}
    found = judge(search_of(), 1000, figures, None)
    why = "p99 was 25 ms, not < 20 ms; not at rest: the median of a second fell from 9 to 1 ms"
    assert found == Judgement([], [why])
    assert judge(search_of(), 1000, {**figures, "p99": 15.0}, None) == Judgement([], []), "all the more"
    assert judge(search_of(), 1000, {**figures, "lost": 1.0}, None).missed == ["lost was 1, not = 0"]
    assert judge(search_of(), 1000, {**figures, "p99": None}, None).missed, "nothing fell that is not known"
    assert judge(search_of(), 1000, figures, "an agent died").missed == ["an agent died"]


def _undecided(rate: float) -> Trial:
    return Trial("", rate, [], doubts=["not at rest"])


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("??", Outcome.NOT_DECIDABLE),
        ("+?", None),
        ("+?+", Outcome.MET),
        ("-?-", Outcome.MISSED),
        ("+-?", Outcome.NOT_DECIDABLE),
        ("++?", None),
        ("++??", Outcome.NOT_DECIDABLE),
        ("??++", Outcome.MET),
    ],
)
def test_trials_that_decide_nothing_count_like_the_others(said: str, outcome: Outcome | None) -> None:
    trials = [{"+": Trial("", 9, []), "-": Trial("", 9, ["x"]), "?": _undecided(9)}[sign] for sign in said]
    [step] = RateSearch(search_of(), STEP_S, trials).steps
    assert step.outcome is outcome


def test_the_search_goes_on_below_what_is_not_decidable_and_says_so() -> None:
    search, trials = search_of(), list[Trial]()
    while (rate := RateSearch(search, STEP_S, trials).next_rate()) is not None:
        is_open = 3000 < rate < 7000
        trials.append(_undecided(rate) if is_open else Trial("", rate, [] if rate <= 3000 else ["x"]))
        assert len(trials) < 60
    found = RateSearch(search, STEP_S, trials)
    assert found.held_per_s is not None
    assert found.undecided_per_s is not None
    assert found.held_per_s <= 3000 < found.undecided_per_s <= 1.022 * found.held_per_s
    assert (found.ending, found.broken_per_s) == ("not decidable", None), "4,000/s were the ceiling"
    known = RateSearch(search, STEP_S, [*trials, *[Trial("", 8000, ["x"])] * 2])
    assert (known.ending, known.broken_per_s) == ("not decidable", 8000)


def test_when_nothing_is_decidable_nothing_has_missed() -> None:
    trials: list[Trial] = []
    while (rate := RateSearch(search_of(), STEP_S, trials).next_rate()) is not None:
        trials.append(_undecided(rate))
        assert len(trials) < 60
    found = RateSearch(search_of(), STEP_S, trials)
    assert (found.ending, found.held_per_s, found.broken_per_s) == ("not decidable", None, None)
    assert found.undecided_per_s == min(trial.rate_per_s for trial in trials)


def test_a_case_that_is_not_whole_does_not_hold() -> None:
    figures: dict[str, float | None] = {"p99": 1.0, "lost": 0.0, "delivered_per_s": 1000.0}
    assert judge(search_of(), 1000, figures, "an agent died").missed == ["an agent died"]


@pytest.mark.parametrize(
    ("slo", "figures", "missed"),
    [
        ("p99<20ms", {"p99": 19.999}, []),
        ("p99<20ms", {"p99": 20.0}, ["p99 was 20 ms, not < 20 ms"]),
        ("p99<=20ms", {"p99": 20.0}, []),
        ("p99<20ms", {"p99": None}, ["p99 is not known, so p99<20ms is not held"]),
        ("lost=0", {"lost": 3.0}, ["lost was 3, not = 0"]),
        ("rate>=98%", {"delivered_per_s": 975.0}, ["rate was 97.5%, not >= 98%"]),
        ("rate>900/s", {"delivered_per_s": 975.0}, []),
    ],
)
def test_a_step_says_what_the_figure_was(
    slo: str, figures: dict[str, float | None], missed: list[str]
) -> None:
    assert judge(search_of(slo=[slo]), 1000, figures, None) == Judgement(missed, [])
