"""What is known of a case beside its events, from its plan, its marks and a survey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.plan.cases import Case

Place = tuple[int, int, int]
"""Topic, partition and offset."""
Stream = tuple[int, int, int, int]
"""Consumer, producer, topic and partition: what is received in order."""


class Clock(NamedTuple):
    """What to add to an agent's times: more, or less, as time goes by."""

    offset_ns: int = 0
    anchor_ns: int = 0
    drift: float = 0.0
    wall_offset_ns: int | None = None


class AgentClocks(NamedTuple):
    """Of one case, by the agent's number."""

    producers: dict[int, Clock]
    consumers: dict[int, Clock]


@dataclass(frozen=True)
class CaseFacts:
    """What joining has to know of a case."""

    case: str
    start_ns: int = 0
    consumers: int = 0
    topics: tuple[str, ...] = ()
    warm_ups: Mapping[int, int] = field(default_factory=dict)
    """By producer: so many of its first messages are warm-up."""
    producer_clocks: Mapping[int, Clock] = field(default_factory=dict)
    consumer_clocks: Mapping[int, Clock] = field(default_factory=dict)
    damaged: Mapping[Place, int] = field(default_factory=dict)
    """Records that are damaged or not ours; empty when sends bring their own column for it."""
    last_offsets: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By topic and partition."""
    last_sequences: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By topic and producer."""
    has_order: bool = True
    """As `order_stands_in` has it."""

    def topic_name(self, number: int) -> str:
        return self.topics[number] if number < len(self.topics) else f"topic-{number}"

    def topic_names(self, last: int) -> list[str]:
        return [self.topic_name(number) for number in range(last + 1)]


def order_stands_in(case: Case, *, is_whole: bool) -> bool:
    """Whether a producer's order tells what was behind a message of which nobody knows the place (acks=0):
    what was read of one partition tells nothing of another, unless all were read to their ends."""
    return is_whole or case.load.topics.partitions == 1


def greatest(rows: pa.Table, by: str, what: str) -> dict[tuple[int, int], int]:
    """By topic and one column more, the greatest of another; of rows that have both."""
    known = rows.filter(pc.is_valid(rows[by]))
    found = known.group_by(["topic", by], use_threads=False).aggregate([(what, "max")])
    columns = (found[name].to_pylist() for name in ("topic", by, f"{what}_max"))
    return {(topic, other): most for topic, other, most in zip(*columns, strict=True)}
