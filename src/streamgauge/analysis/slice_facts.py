"""What slices have to know of their case, from small tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan

_Rows = list[dict[str, Any]]
Place = tuple[int, int, int]
Stream = tuple[int, int, int, int]
"""Consumer, producer, topic and partition: what is received in order."""


class Clock(NamedTuple):
    """What to add to an agent's times."""

    offset_ns: int = 0
    anchor_ns: int = 0
    drift: float = 0.0
    wall_offset_ns: int | None = None


@dataclass(frozen=True)
class CaseFacts:
    """What is known of a case beside its events."""

    case: str
    start_ns: int = 0
    consumers: int = 0
    topics: tuple[str, ...] = ()
    warm_ups: Mapping[int, int] = field(default_factory=dict)
    producer_clocks: Mapping[int, Clock] = field(default_factory=dict)
    consumer_clocks: Mapping[int, Clock] = field(default_factory=dict)
    damaged: Mapping[Place, int] = field(default_factory=dict)
    """Records that are damaged or not ours, by topic, partition and offset."""
    last_offsets: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By topic and partition."""
    last_sequences: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By topic and producer."""

    def topic_name(self, number: int) -> str:
        return self.topics[number] if number < len(self.topics) else f"topic-{number}"


def facts_of(
    plan: Plan, *, agents: pa.Table, producers: pa.Table, reach: pa.Table, damage: pa.Table
) -> dict[str, CaseFacts]:
    """By case."""
    of_cases = [_by_case(table) for table in (agents, producers, reach, damage)]
    return {case.id: _facts(case, *(rows.get(case.id, []) for rows in of_cases)) for case in plan.cases}


def _facts(case: Case, agents: _Rows, producers: _Rows, reach: _Rows, damage: _Rows) -> CaseFacts:
    intact = [row for row in reach if row["producer"] is not None]
    return CaseFacts(
        case.id,
        start_ns=producers[0]["start_ns"] if producers else 0,
        consumers=case.load.consumer_count,
        topics=tuple(case.topics),
        warm_ups={row["producer"]: row["warm_up_messages"] for row in producers},
        producer_clocks=_clocks(agents, "producer"),
        consumer_clocks=_clocks(agents, "consumer"),
        damaged={
            (row["topic"], row["partition"], row["offset"]): row["corrupt_records"] + row["foreign_records"]
            for row in damage
        },
        last_offsets=_greatest(reach, "partition", "last_offset"),
        last_sequences=_greatest(intact, "producer", "last_sequence"),
    )


def _clocks(agents: _Rows, kind: str) -> dict[int, Clock]:
    return {
        row["number"]: Clock(
            row["reference_offset_ns"] or 0, row["anchor_ns"], row["drift"], row["wall_offset_ns"]
        )
        for row in agents
        if row["kind"] == kind
    }


def _greatest(reach: _Rows, by: str, what: str) -> Mapping[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for row in reach:
        place = (row["topic_number"], row[by])
        found[place] = max(row[what], found.get(place, row[what]))
    return found


def _by_case(table: pa.Table) -> dict[str, _Rows]:
    rows: dict[str, _Rows] = {}
    for row in table.to_pylist():
        rows.setdefault(row["case"], []).append(row)
    return rows
