"""Schedules at random are the same for the same seed; one that breaks is made as small as it gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import pairwise

import pytest

from streamgauge.faults.random_schedule import DRAW, KINDS, Planned, random_schedule, smallest
from streamgauge.spec.load import Load


def test_a_seed_makes_one_schedule_and_another_seed_another() -> None:
    assert random_schedule(7, 600) == random_schedule(7, 600)
    assert random_schedule(7, 600) != random_schedule(8, 600)


def test_what_a_seed_draws_changes_only_with_the_version_of_the_draw() -> None:
    assert DRAW == 2
    drawn = json.dumps([random_schedule(seed, 600, 3, 3) for seed in range(20)])
    assert hashlib.sha256(drawn.encode()).hexdigest()[:16] == "171c00c0696cc794"


def test_every_kind_is_drawn() -> None:
    assert {fault["kind"] for seed in range(5) for fault in random_schedule(seed, 600)} == set(KINDS)


@pytest.mark.parametrize("seed", range(50))
def test_a_schedule_is_a_workloads_and_only_one_broker_is_away_at_a_time(seed: int) -> None:
    schedule = random_schedule(seed, 600, brokers=5, partitions=3)

    load = Load.model_validate({"duration": 600, "rate": 100, "faults": schedule})
    assert len(load.faults) == len(schedule) > 10
    for one, other in pairwise(schedule):
        assert one["at"] + one["for"] < other["at"]
    assert schedule[-1]["at"] + schedule[-1]["for"] < 600 - 9


def test_where_there_is_no_time_there_is_no_fault() -> None:
    assert random_schedule(1, 10) == []


def shrunk(count: int, culprits: set[int], most_tries: int = 1000) -> tuple[list[int], int]:
    """With faults numbered from 0, of which these together break it."""
    tries = 0

    def breaks(faults: Sequence[Planned]) -> bool:
        nonlocal tries
        tries += 1
        return culprits <= {fault["at"] for fault in faults}

    left = smallest([{"at": number} for number in range(count)], breaks, most_tries)
    return [fault["at"] for fault in left], tries


@pytest.mark.parametrize("culprits", [{0}, {19}, {7}, {3, 4}, {0, 19}, {1, 8, 15}, set(range(20))])
def test_what_is_left_is_just_what_breaks_it(culprits: set[int]) -> None:
    left, tries = shrunk(20, culprits)

    assert left == sorted(culprits)
    assert tries < 150


def test_after_so_many_tries_it_is_what_is_left_by_then() -> None:
    left, tries = shrunk(64, {5}, most_tries=3)

    assert tries == 3
    assert 5 in left
    assert len(left) < 64


def test_a_single_fault_is_as_small_as_it_gets() -> None:
    assert shrunk(1, {0}) == ([0], 0)
