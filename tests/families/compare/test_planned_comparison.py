from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.planned_comparison import WARM_UP, PlannedComparison, order
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload


def planned(repeat: int = 6, name: str = "one", other: str = "two", **comparison: Any) -> PlannedComparison:
    workload = Workload.model_validate(
        {
            "targets": [{"name": name, "driver": "simulated"}, {"name": other, "driver": "simulated"}],
            "comparison": {"lengths": [10, 100], "messages": [5, 50], "repeat": repeat, **comparison},
        }
    )
    [case] = make_plan(workload, "run").cases
    return as_work(case.work, PlannedComparison)


def test_a_and_b_alone_are_abba() -> None:
    letters = "".join(side for r in range(6) for side in order(r) if side != "control")
    assert letters == "abbabaababba"


def test_nobody_has_a_better_place_over_six_rounds() -> None:
    places = Counter((side, place) for r in range(6) for place, side in enumerate(order(r)))
    assert set(places.values()) == {2}


def test_neighbouring_rounds_mirror_each_other() -> None:
    assert all(order(2 * r) == order(2 * r + 1)[::-1] for r in range(20))


def test_a_round_that_is_not_counted_comes_first() -> None:
    found = planned()
    rounds = list(found.rounds(found.cells[0]))
    assert [turns[0].repetition for turns in rounds] == [WARM_UP, 0, 1, 2, 3, 4, 5]
    assert [turn.position for turns in rounds for turn in turns] == list(range(21))
    assert all({turn.side for turn in turns} == {"a", "b", "control"} for turns in rounds)


def test_every_test_has_a_topic_of_its_own_named_as_asked() -> None:
    found = planned(topics={"name": "pre.fix"})
    topics = [
        topic
        for cell in found.cells
        for turns in found.rounds(cell)
        for turn in turns
        for topic in turn.topics.values()
    ]
    assert len(topics) == len(set(topics)) == 4 * 7 * 3 * 2
    assert topics[:2] == ["pre.fix__one__10__0", "pre.fix__one__10__1"]
    names = {topic.split("__")[1] for topic in topics}
    assert names == {"one", "two", "one-control"}


def test_added_rounds_go_on_where_the_planned_ones_ended() -> None:
    found = planned(repeat=5, until_decided=True)
    cell = found.cells[1]
    rounds = [*found.rounds(cell), *found.added_rounds(cell, 5), *found.added_rounds(cell, 11)]
    assert [turns[0].repetition for turns in rounds] == list(range(-1, 17))
    assert [turn.position for turns in rounds for turn in turns] == list(range(3 * 18))
    assert [tuple(turn.side for turn in turns) for turns in rounds[1:]] == [order(r) for r in range(17)]


def test_a_topic_of_an_added_round_is_nobody_elses_either() -> None:
    found = planned(repeat=5, until_decided=True)
    topics = [
        topic
        for cell in found.cells
        for turns in (*found.rounds(cell), *found.added_rounds(cell, 5), *found.added_rounds(cell, 11))
        for turn in turns
        for topic in turn.topics.values()
    ]
    assert len(topics) == len(set(topics)) == 4 * 18 * 3 * 2


def test_a_topic_that_would_be_too_long_after_many_rounds_is_said_before_the_start() -> None:
    topics, name = {"name": "x" * 200}, "y" * (49 - len("__-control__100__99"))
    planned(topics=topics, name=name)
    with pytest.raises(BadInput, match="letters; allowed: 249"):
        planned(topics=topics, name=name, until_decided=True)


def test_cells_are_lengths_within_messages() -> None:
    assert [(cell.number, cell.messages, cell.length) for cell in planned().cells] == [
        (0, 5, 10),
        (1, 5, 100),
        (2, 50, 10),
        (3, 50, 100),
    ]


def test_the_control_is_as_target() -> None:
    found = planned()
    assert found.target_of("control") == found.target_of("a") == found.a
    assert found.target_of("b") == found.b


def test_a_topic_too_long_for_kafka_is_said_before_anything_starts() -> None:
    with pytest.raises(BadInput, match=r"comparison.topics.name: .* has 2\d\d letters; allowed: 249"):
        planned(topics={"name": "x" * 200}, name="y" * 50)


def test_b_cannot_have_the_name_of_the_control() -> None:
    with pytest.raises(BadInput, match="one-control is the name of A's control"):
        planned(other="one-control")


def test_a_comparison_is_one_case_with_one_agent() -> None:
    workload = Workload.model_validate(
        {
            "targets": [{"name": "x", "driver": "simulated"}, {"name": "y", "driver": "simulated"}],
            "comparison": {},
        }
    )
    plan = make_plan(workload, "run")
    assert plan.slots_needed == 1
    [case] = plan.cases
    assert [task.agent for task in case.agents] == ["referee-0"]
    assert [target.name for target in case.targets] == ["x", "y"]
    assert type(plan).model_validate(plan.model_dump(mode="json", by_alias=True)) == plan


def _topics_of(found: PlannedComparison) -> set[str]:
    turns = [turn for cell in found.cells for turns in found.rounds(cell) for turn in turns]
    return {topic for turn in turns for topic in turn.topics.values()}


def test_topics_are_the_runs_own_unless_a_prefix_was_given() -> None:
    assert all(topic.startswith("testTopic-run__") for topic in _topics_of(planned()))
    named = planned(topics={"name": "mine"})
    assert all(topic.startswith("mine__") for topic in _topics_of(named))
