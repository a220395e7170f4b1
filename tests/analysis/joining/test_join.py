"""The kernel against an oracle that goes through the events one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from streamgauge.analysis.accounting import accounting
from streamgauge.analysis.clocks import agent_clocks
from streamgauge.analysis.feeding.fed import NO_CLOCKS, all_strays
from streamgauge.analysis.joining.cells import COUNTS
from streamgauge.analysis.joining.join import Joined, facts_of, join
from streamgauge.analysis.joining.survey import Survey
from streamgauge.analysis.latency import histogram, latency
from streamgauge.tables.events import INTACT, RECEIVES, SENDS
from streamgauge.tables.results import PERCENTILES
from tests.analysis.recorded import MS, WALL_OFFSET_NS, CaseEvents
from tests.proof import tries

from . import oracle
from .random_events import random_cases

_WITHIN = 1 / 1024
"""Two buckets' middles, each within 1/2048 of its values."""


def joined(case: CaseEvents) -> tuple[Joined, pa.Table]:
    """The kernel's tables, and strays."""
    sends = pa.Table.from_pylist(case.sends, schema=SENDS.arrow_schema())
    receives = pa.Table.from_pylist(case.receives, schema=RECEIVES.arrow_schema())
    planned = case.planned("001")
    survey = Survey.of("001", sends, receives, 10)
    clocks = agent_clocks([{"case": "001"} | mark for mark in case.marks])
    facts = facts_of(planned, clocks.get("001", NO_CLOCKS), survey)
    intact = receives.filter(pa.compute.equal(receives["state"], INTACT))
    found = join(facts, sends, intact).plain()
    return found, all_strays(found.strays, survey.damage, found.claimed, {"001": facts})


def told(case: CaseEvents) -> oracle.Told:
    planned = case.planned("001")
    # What is known of clocks has a test of its own: here it is what is done with it.
    known = agent_clocks([{"case": "001"} | mark for mark in case.marks]).get("001", NO_CLOCKS)
    producers, consumers = (
        {number: oracle.Clock(clock.offset_ns, clock.anchor_ns, clock.drift) for number, clock in own.items()}
        for own in (known.producers, known.consumers)
    )
    return oracle.Told(
        case.sends,
        case.receives,
        planned.topics,
        {agent.number: agent.warm_up_messages for agent in planned.agents if agent.kind == "producer"},
        planned.load.consumer_count,
        producers,
        consumers,
        dict.fromkeys(consumers, WALL_OFFSET_NS),
    )


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["producer"], row["sequence"]))


def place_of(row: dict[str, Any], last: str) -> tuple[Any, ...]:
    return row["scope"], row["topic"], row["partition"], row["second"], row[last]


@pytest.mark.proof
@tries(usual=60, proof=5_000)
@given(random_cases())
def test_the_kernel_finds_what_the_oracle_finds(case: CaseEvents) -> None:
    known = told(case)
    found, strays = joined(case)

    messages = found.messages.drop_columns(["case"]).to_pylist()
    assert in_order(messages) == in_order(oracle.messages_of(known))

    counts = {
        place_of(row, "phase"): +Counter({name: row[name] for name in COUNTS})
        for row in accounting(found.cells, strays).to_pylist()
    }
    assert counts == oracle.counts_of(known)

    expected = oracle.latencies_of(known)
    statistics = {place_of(row, "leg"): row for row in latency(found.buckets).to_pylist()}
    assert set(statistics) == set(expected)
    for place, values in expected.items():
        check_statistics(statistics[place], values)
    for row in histogram(found.buckets).to_pylist():
        near = [
            ns for ns in expected["case", None, None, None, row["leg"]] if is_near(ns, row["value_ms"] * MS)
        ]
        assert len(near) >= row["count"] > 0


def check_statistics(row: dict[str, Any], values: list[int]) -> None:
    assert row["count"] == len(values)
    assert row["negative_count"] == sum(value < 0 for value in values)
    assert (row["min"], row["max"]) == (min(values) / MS, max(values) / MS)
    assert row["mean"] == pytest.approx(sum(values) / len(values) / MS, rel=1e-12, abs=1e-12)
    if len(values) > 1:
        assert row["sd"] == pytest.approx(float(oracle.variance(values)) ** 0.5 / MS, rel=1e-9, abs=1e-9)
    else:
        assert row["sd"] is None
    widest = max(abs(value) for value in values)
    for name, share in PERCENTILES.items():
        exact = oracle.percentile(values, share)
        assert row[name] == pytest.approx(exact / MS, abs=_WITHIN * widest / MS + 1e-9)


def is_near(ns: int, middle_ns: float) -> bool:
    return abs(ns - middle_ns) <= abs(ns) / 2048 + 1e-3


def test_the_oracle_knows_what_was_planted() -> None:
    """It decides over the kernel, so it is held against what can be seen."""
    case = CaseEvents("", load={"messages": 5, "topics": {"count": 1, "partitions": 1}})
    sends = [case.send(sequence) for sequence in range(5)]
    case.receive(sends[0])
    case.receive(sends[2])
    case.receive(sends[1])
    case.receive(sends[1])
    case.receive(sends[4], state=1, producer=-1, sequence=1 << 60)
    known = told(case)

    assert [row["received_count"] for row in oracle.messages_of(known)] == [1, 2, 1, 0, 0]
    assert [row["out_of_order"] for row in oracle.messages_of(known)] == [False, True, False, False, False]
    counts = oracle.counts_of(known)["case", None, None, None, "measure"]
    expected = {"sent": 5, "acked": 5, "received": 3, "lost_write": 1, "duplicate": 1}
    assert counts == expected | {"out_of_order": 1, "corrupt": 1}
