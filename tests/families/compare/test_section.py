from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.section import PRESETS, Comparison
from streamgauge.families.compare.workload import CompareWorkload
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.workload import Workload

TARGETS = [{"name": "one", "driver": "simulated"}, {"name": "two", "driver": "simulated"}]


def compared(**comparison: Any) -> Workload:
    return parse(Workload, {"targets": TARGETS, "comparison": comparison}, "w.yaml")


def test_defaults_are_those_of_the_benchmark_it_follows() -> None:
    comparison = Comparison()
    assert comparison.lengths == (10, 100, 1000, 10_000, 100_000)
    assert comparison.messages == (10, 100, 1000, 10_000)
    assert (comparison.repeat, comparison.topics.name) == (20, "testTopic")
    assert comparison.operations == ("produce", "consume")


@pytest.mark.parametrize(
    ("fields", "operations"),
    [({"produce_only": True}, ("produce",)), ({"round_trip": True}, ("round_trip",))],
)
def test_what_is_measured(fields: dict[str, Any], operations: tuple[str, ...]) -> None:
    assert Comparison.model_validate(fields).operations == operations


def test_what_is_set_stands_over_the_preset() -> None:
    given = Comparison.model_validate({"preset": "seed", "settings": {"linger_ms": 0}, "acks": 0})
    assert given.shared_settings == {**_without_acks("seed"), "linger_ms": 0}
    assert (given.acks_in_force, Comparison().acks_in_force) == ("0", "all")


def test_the_seed_preset_has_the_settings_of_its_publication() -> None:
    assert _without_acks("seed") == {
        "linger_ms": 100,
        "batch_size": 1_000_000,
        "max_in_flight": 1_000_000,
        "send_buffer": 32 * 1024**2,
        "receive_buffer": 32 * 1024**2,
        "fetch_min_bytes": 100_000,
        "idempotence": False,
    }


@pytest.mark.parametrize(
    ("fields", "idempotence"),
    [
        ({}, True),
        ({"acks": 1}, False),
        ({"settings": {"max_in_flight": 6}}, False),
        ({"settings": {"max_in_flight": 6, "idempotence": True}}, True),
    ],
)
def test_idempotence_is_given_up_where_no_library_can_promise_it(
    fields: dict[str, Any], idempotence: bool
) -> None:
    assert Comparison.model_validate(fields).shared_settings["idempotence"] is idempotence


def test_a_round_trip_does_not_linger_unless_told_to() -> None:
    assert Comparison(round_trip=True).shared_settings["linger_ms"] == 0
    told = Comparison.model_validate({"round_trip": True, "settings": {"linger_ms": 3}})
    assert told.shared_settings["linger_ms"] == 3


def test_a_workload_that_compares_has_no_load_of_its_own_and_reads_back_the_same(tmp_path: Any) -> None:
    workload = compared(lengths=["1kB", 10], messages=["1k"], topics={"partitions": 3}, time_limit="2h")
    text = dump_yaml(workload)
    assert "load" not in text
    assert parse(Workload, workload.model_dump(mode="json", by_alias=True), "again") == workload


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"comparison": {}, "targets": TARGETS[:1]}, "needs two targets, A and B, not 1"),
        ({"comparison": {}, "load": {"messages": 5}}, "load: unknown field"),
        ({}, "load: this field is required"),
        ({"comparison": {}, "sweep": {"acks": [1]}}, "`kind: compare` or `kind: sweep`"),
        ({"comparison": {"lengths": [10, "10"]}}, "comparison.lengths: names a value twice: 10, 10"),
        ({"comparison": {"messages": []}}, "comparison.messages: has no values"),
        ({"comparison": {"lengths": [0]}}, "comparison.lengths.0: must be greater than or equal to 1"),
        ({"comparison": {"repeat": 0}}, "comparison.repeat"),
        ({"comparison": {"produce_only": True, "round_trip": True}}, "give one of them"),
        ({"comparison": {"round_trip": True, "bursts": {}}}, "one message at a time"),
        ({"comparison": {"round_trip": True, "acks": 0}}, "a round trip needs 1 or all"),
        ({"comparison": {"acks": 1, "settings": {"idempotence": True}}}, "needs acks all"),
        ({"comparison": {"settings": {"linger": 5}}}, "comparison.settings.linger: unknown field"),
        ({"comparison": {"engine": "go"}}, "comparison.engine: must be 'python' or 'jvm', not 'go'"),
        ({"comparison": {"topics": {"count": 2}}}, "one topic of its own"),
        ({"comparison": {"warm_up_messages": "soon"}}, "comparison.warm_up_messages"),
        ({"comparison": {"warm_up_limit": 0}}, "comparison.warm_up_limit"),
        (
            {"comparison": {}, "targets": [{**TARGETS[0], "system": {"brokers": 3}}, TARGETS[1]]},
            "must have the same `system`",
        ),
    ],
)
def test_faults_are_named(content: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadInput, match=fault) as caught:
        parse(Workload, {"targets": TARGETS, **content}, "w.yaml")
    assert str(caught.value).startswith("w.yaml: ")


@pytest.mark.parametrize(
    ("given", "kept"),
    [({}, "auto"), ({"warm_up_messages": "none"}, 0), ({"warm_up_messages": "20k"}, 20_000)],
)
def test_libraries_warm_up_until_at_rest_or_as_many_messages_as_is_said(
    given: dict[str, Any], kept: Any
) -> None:
    made = compared(**given)
    assert isinstance(made, CompareWorkload)
    assert made.comparison.warm_up_messages == kept


def _without_acks(preset: Any) -> dict[str, Any]:
    return {name: value for name, value in PRESETS[preset].items() if name != "acks"}
