"""The kernel: what became of every message, from its send and from all that was read of it.

Whoever feeds it gives all sends with certain keys and all intact records with these keys; the rest it has to
know of the case is in its facts. So a part of a case is joined as the whole would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa

from streamgauge.analysis.joining.buckets import BUCKETS, buckets_of
from streamgauge.analysis.joining.cells import CELLS, cells_of
from streamgauge.analysis.joining.columns import integers, on_reference
from streamgauge.analysis.joining.facts import AgentClocks, CaseFacts, Stream, greatest, order_stands_in
from streamgauge.analysis.joining.messages import Messages, join_messages
from streamgauge.analysis.joining.strays import CLAIMED, STRAYS, claimed, unsent
from streamgauge.analysis.joining.survey import Survey
from streamgauge.plan.cases import Case
from streamgauge.tables.results import MESSAGES


class Joined(NamedTuple):
    """One row each: a message, a bucket of latencies, a cell, a partition with strays, a damaged message."""

    messages: pa.Table
    buckets: pa.Table
    cells: pa.Table
    strays: pa.Table
    claimed: pa.Table

    @classmethod
    def schemas(cls) -> Joined:
        return cls(MESSAGES.arrow_schema(), BUCKETS, CELLS, STRAYS, CLAIMED)

    @classmethod
    def together(cls, parts: Iterable[Joined]) -> Joined:
        found = [one.plain() for one in parts]
        empty = cls(*(schema.empty_table() for schema in cls.schemas()))
        return cls(*(pa.concat_tables(tables) for tables in zip(empty, *found, strict=True)))

    def plain(self) -> Joined:
        """With words as words; joining makes them numbers that stand for words."""
        tables = (table.cast(schema) for table, schema in zip(self, self.schemas(), strict=True))
        return Joined(*tables)


def counted(messages: Messages) -> Joined:
    """What comes of messages that are all well: none of them is damaged, and nothing is a stray."""
    return Joined(
        messages.table(),
        buckets_of(messages),
        cells_of(messages),
        STRAYS.empty_table(),
        CLAIMED.empty_table(),
    )


def join(
    facts: CaseFacts, sends: pa.Table, receives: pa.Table, later_arrivals: Mapping[Stream, int] | None = None
) -> Joined:
    """`receives` are intact; `later_arrivals` is of sequences beyond these, for what they overtook."""
    messages = join_messages(facts, sends, receives, later_arrivals or {})
    return Joined(
        messages.table(),
        buckets_of(messages),
        cells_of(messages),
        unsent(messages, receives),
        claimed(messages),
    )


def facts_of(case: Case, clocks: AgentClocks, survey: Survey, *, with_damage: bool = True) -> CaseFacts:
    """`survey` is of this case alone; without damage, sends bring a column for it."""
    damage = survey.damage.to_pylist() if with_damage else []
    first_ns = on_reference(
        integers(survey.firsts, "first_ns"), integers(survey.firsts, "producer"), clocks.producers
    )
    return CaseFacts(
        case.id,
        start_ns=int(first_ns.min()) if len(first_ns) else 0,
        consumers=case.load.consumer_count,
        topics=tuple(case.topics),
        warm_ups={
            part.number: part.warm_up_messages
            for agent in case.agents
            if agent.kind == "producer"
            for part in agent.streams or (agent,)
        },
        producer_clocks=clocks.producers,
        consumer_clocks=clocks.consumers,
        damaged={
            (row["topic"], row["partition"], row["offset"]): row["corrupt_records"] + row["foreign_records"]
            for row in damage
        },
        last_offsets=greatest(survey.reach, "partition", "last_offset"),
        last_sequences=greatest(survey.reach, "producer", "last_sequence"),
        has_order=order_stands_in(case, is_whole=case.is_whole),
    )
