"""Effects of knobs that were put in on purpose are found, and no others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from streamgauge.families.sweep.effects import RESPONSES, interplays, main_effects
from streamgauge.report.case_document import Case, Cpu, Delivery, Legs, Statistics
from streamgauge.report.parameters import Parameters

NOISE = (1.02, 0.98, 1.01, 0.99)


def case(partitions: int, acks: str, iteration: int, p50: float, **more: Any) -> Case:
    parameters = Parameters.model_construct(
        topics=["t"],
        partitions=partitions,
        replicas=1,
        message_size=100,
        stream_size=1024,
        rate="unlimited",
        acks=acks,
        completions=True,
        transaction_messages=None,
        compression="none",
        streams="per_partition",
        consumers=1,
        swept={},
    )
    leg = Statistics(count=100, p50=p50, p99=2 * p50)
    nothing = Statistics()
    legs: dict[str, Any] = dict.fromkeys(Legs.model_fields, nothing) | {"intended_to_received": leg}
    return Case.model_construct(
        case=f"{partitions}-{acks}-{iteration}",
        iteration=iteration,
        target="kafka",
        parameters=parameters,
        latency_ms=Legs.model_construct(**legs),
        delivery=Delivery(messages_per_s=1000 / p50),
        cpu_us_per_message=Cpu(**more),
    )


def swept(ms: Any) -> list[Case]:
    """Partitions 1 and 4, acks 1 and all, four rounds, with a little noise."""
    places = itertools.product((1, 4), ("1", "all"), range(4))
    return [
        case(
            partitions,
            acks,
            round_,
            ms(partitions, acks) * NOISE[(round_ + 3 * partitions + 2 * (acks == "all")) % 4],
        )
        for partitions, acks, round_ in places
    ]


def test_what_a_knob_does_is_found_with_an_interval_that_holds_it() -> None:
    found = main_effects(swept(lambda partitions, acks: 3.0 * (partitions > 1) + 1.0 * (acks == "all") + 1))
    by_place = {(one.knob, one.response): one for one in found}
    assert set(by_place) == {
        (knob, response)
        for knob in ("partitions", "acks")
        for response in ("p50_ms", "p99_ms", "messages_per_s")
    }
    acks = by_place["acks", "p50_ms"]
    assert (acks.base, acks.value, acks.pair_count) == ("1", "all", 8)
    assert acks.low is not None
    assert acks.high is not None
    assert acks.low < (2 * 1.25) ** 0.5 < acks.high
    assert by_place["acks", "messages_per_s"].ratio == pytest.approx(1 / acks.ratio)


def test_a_knob_that_does_nothing_has_one_in_its_interval() -> None:
    for one in main_effects(swept(lambda partitions, acks: 2.0)):
        assert one.low is not None
        assert one.high is not None
        assert one.low < 1 < one.high
    assert interplays(swept(lambda partitions, acks: 2.0)) == []


def test_knobs_that_multiply_do_not_depend_on_each_other() -> None:
    assert interplays(swept(lambda partitions, acks: partitions * (2.0 if acks == "all" else 1.0))) == []


def test_knobs_that_depend_on_each_other_are_named() -> None:
    cases = swept(lambda partitions, acks: 5.0 if (partitions, acks) == (4, "all") else 1.0)
    found = {one.response: one for one in interplays(cases)}
    one = found["p50_ms"]
    assert (one.knob, one.value, one.other_knob) == ("partitions", 4, "acks")
    assert (one.least_at, one.most_at, one.is_certain) == ("1", "all", True)
    assert one.most_ratio / one.least_ratio == pytest.approx(5, rel=0.1)


def test_a_single_pair_has_no_interval_and_no_certainty() -> None:
    cases = [case(p, a, 1, 5.0 if (p, a) == (4, "all") else 1.0) for p in (1, 4) for a in ("1", "all")]
    alone = [found for found in main_effects([cases[0], cases[2]]) if found.response == "p50_ms"]
    assert [(one.pair_count, one.low, one.high) for one in alone] == [(1, None, None)]
    assert [one.is_certain for one in interplays(cases)] == [False] * 3


def test_a_case_without_its_partner_is_in_no_pair() -> None:
    cases = [case(1, "1", 1, 1.0), case(4, "1", 2, 4.0), case(1, "1", 2, 2.0)]
    assert [one.pair_count for one in main_effects(cases)] == [1, 1, 1]


def test_cpu_is_of_all_that_is_known() -> None:
    assert RESPONSES["cpu_us_per_message"](case(1, "1", 1, 1.0, producer=2.0, broker=3.0)) == 5.0
    assert RESPONSES["cpu_us_per_message"](case(1, "1", 1, 1.0)) is None
