from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.sweep.workload import SweepWorkload
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.rate import Step
from streamgauge.spec.workload import Workload

Make = Callable[..., SweepWorkload]


def expanded(workload: Workload, run_id: str = "run-1") -> list[Case]:
    return list(make_plan(workload, run_id).cases)


def test_without_a_sweep_each_target_is_one_case(workload: Make) -> None:
    cases = expanded(workload(targets=("a", "b")))
    assert [(case.id, case.target.name, case.parameters) for case in cases] == [
        ("001", "a", {}),
        ("002", "b", {}),
    ]
    assert all(case.load == workload().load for case in cases)


def test_swept_fields_are_crossed_in_the_order_written(workload: Make) -> None:
    cases = expanded(workload({"message.size": [100, "1KiB"], "producers": [1, 2]}, targets=("a", "b")))
    points = [(case.target.name, case.load.message.size, case.load.producers) for case in cases]
    assert points == [(t, s, p) for t in ("a", "b") for s in (100, 1024) for p in (1, 2)]
    assert [case.id for case in cases] == [f"{n:03d}" for n in range(1, 9)]


def test_a_case_keeps_the_values_as_they_were_written(workload: Make) -> None:
    first, second = expanded(workload({"message.size": [100, "1KiB"]}))
    assert first.parameters == {"message.size": 100}
    assert second.parameters == {"message.size": "1KiB"}


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("rate", "10k/s", lambda load: load.rate == 10_000),
        ("acks", 1, lambda load: load.acks == "1"),
        ("topics.partitions", 8, lambda load: load.topics.partitions == 8),
        ("message.keys", {"kind": "random", "of": 9}, lambda load: load.message.keys.of == 9),
        ("message.header_in", "headers", lambda load: load.message.carrier == "headers"),
        ("messages", "2k", lambda load: load.messages == 2000),
    ],
)
def test_any_field_of_the_load_can_be_swept(
    workload: Make, path: str, value: Any, field: Callable[[Any], bool]
) -> None:
    (case,) = expanded(workload({path: [value]}))
    assert field(case.load)
    assert case.load != workload().load


def test_steps_can_be_swept_together_with_leaving_out_messages(workload: Make) -> None:
    steps = [{"rate": 100, "for": "1s"}, {"rate": 10, "for": "1s"}]
    (case,) = expanded(workload({"rate": [steps], "messages": [None]}))
    assert case.load.rate == (Step(rate=100, **{"for": 1}), Step(rate=10, **{"for": 1}))
    assert case.load.total_messages == 110


@pytest.mark.parametrize(
    "path", ["mesages", "message.sise", "message.size.min", "targets", "", "load.producers"]
)
def test_a_path_that_leads_nowhere_is_named(workload: Make, path: str) -> None:
    with pytest.raises(BadInput) as caught:
        expanded(workload({path: [1]}))
    assert str(caught.value) == f"sweep.{path}: there is no such field in `load`"


def test_a_swept_value_is_checked_like_a_written_one(workload: Make) -> None:
    with pytest.raises(BadInput, match=r"^sweep: load: message\.size: 'huge' is not a size[^\n]*$"):
        expanded(workload({"message.size": [100, "huge"]}))


def test_a_sweep_without_values_is_refused(workload: Make) -> None:
    with pytest.raises(BadInput, match=r"^sweep\.producers: has no values$"):
        expanded(workload({"message.size": [100], "producers": []}))


def test_too_many_consumers_are_found_in_the_case_that_has_them(workload: Make) -> None:
    with pytest.raises(BadInput, match="3 consumers for 2 partitions"):
        expanded(workload({"topics.partitions": [3, 2]}, consumers=3))


def test_one_topic_has_the_plain_name_and_several_are_numbered(workload: Make) -> None:
    one, three = expanded(workload({"topics.count": [1, 3]}, topics={"name": "t"}))
    assert one.topics == ("t",)
    assert three.topics == ("t-0", "t-1", "t-2")


def test_agents_are_those_of_the_cases_own_load(workload: Make) -> None:
    one, two = expanded(workload({"producers": [1, 2]}))
    assert [task.agent for task in one.agents] == ["producer-0", "consumer-0"]
    assert [task.agent for task in two.agents] == ["producer-0", "producer-1", "consumer-0"]


def test_no_two_cases_share_a_tag_nor_does_the_same_case_of_another_run(workload: Make) -> None:
    sweep = {"message.size": list(range(100, 300))}
    tags = [case.tag for run in ("run-1", "run-2", "run-3") for case in expanded(workload(sweep), run)]
    assert len(set(tags)) == len(tags) == 600
    assert all(0 <= tag < 2**32 for tag in tags)


def test_a_plan_made_again_has_the_same_tags(workload: Make) -> None:
    assert expanded(workload({"producers": [1, 2]})) == expanded(workload({"producers": [1, 2]}))


def test_listed_cases_are_crossed_with_the_sweep(workload: Make) -> None:
    content = workload({"producers": [1, 2]}).model_dump(mode="json", by_alias=True)
    content["cases"] = [{"message.size": 64, "acks": "1"}, {"message.size": 100}]
    cases = expanded(Workload.model_validate(content))
    points = [(case.load.message.size, case.load.acks, case.load.producers) for case in cases]
    assert points == [(64, "1", 1), (64, "1", 2), (100, "all", 1), (100, "all", 2)]
    assert cases[0].parameters == {"message.size": 64, "acks": "1", "producers": 1}


def test_rounds_come_one_after_another(workload: Make) -> None:
    content = workload({"producers": [1, 2]}, targets=("a", "b")).model_dump(mode="json", by_alias=True)
    content["iterations"] = 2
    cases = expanded(Workload.model_validate(content))
    order = [(case.target.name, case.iteration, case.load.producers) for case in cases]
    assert order == [(t, i, p) for t in "ab" for i in (1, 2) for p in (1, 2)]


def test_a_range_is_a_sweep(workload: Make) -> None:
    cases = expanded(workload({"topics.partitions": "1:8:*2"}))
    assert [case.load.topics.partitions for case in cases] == [1, 2, 4, 8]


def test_own_names_have_run_and_case_in_them(workload: Make) -> None:
    one, two = expanded(workload({"topics.count": [1, 2]}, topics={"name": "t", "own_names": True}), "run-7")
    assert one.topics == ("t-run-7-001",)
    assert two.topics == ("t-run-7-002-0", "t-run-7-002-1")


def test_a_stream_that_is_no_multiple_of_its_messages_is_said(workload: Make) -> None:
    load = {"streams": "per_partition", "messages": None, "message": {"size": 64}}
    whole, rest = expanded(workload({"stream_size": [1024, 1000]}, **load, stream_size=64))
    assert whole.notes == ()
    assert rest.notes == (
        "stream size 1,000 B is no multiple of the message size 64 B: "
        "15 messages, 960 B, went to each partition",
    )


def test_runs_of_the_same_workload_share_no_topic_unless_it_was_named(workload: Make) -> None:
    [one], [other] = expanded(workload(), "run-1"), expanded(workload(), "run-2")
    assert not set(one.topics) & set(other.topics)
    named = workload(topics={"name": "orders"})
    assert [expanded(named, run)[0].topics for run in ("run-1", "run-2")] == [("orders",)] * 2
