"""Least, mean and greatest latency, KiB/s and msg/s of every test, topic and partition, as CSV files have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamgauge.report.case_document import BriefLegs, Case, Delivery, Legs
from streamgauge.report.shown import Block, Note, Section
from streamgauge.report.shown_tables import Column, Table, TableRow, Unit, row

_ROWS_AT_MOST = 64
"""More than this nobody reads; the CSV files and the page's own cases have them all."""


def scope_section(cases: Sequence[Case]) -> Section:
    rows = [found for case in cases if case.is_measured for found in _rows(case)]
    columns = [
        Column("case"),
        Column("topic"),
        Column("partition"),
        *(Column(name, Unit.MS) for name in ("min", "mean", "max")),
        Column("KiB/s", Unit.NUMBER),
        Column("msg/s", Unit.PER_S),
        Column("runtime", Unit.S, is_spare=True),
    ]
    title = "Latency in ms from the intended time; rates of streams side by side"
    blocks: list[Block] = [Table(title, columns, rows[:_ROWS_AT_MOST])]
    if len(rows) > _ROWS_AT_MOST:
        left_out = len(rows) - _ROWS_AT_MOST
        blocks.append(Note(f"{left_out} more rows are in report/csv and in the JSON document."))
    return Section("Per test, topic and partition", blocks)


def _rows(case: Case) -> Iterator[TableRow]:
    yield _row(case.case, "all", "all", case.latency_ms, case.delivery)
    for topic in case.topics:
        yield _row("", topic.topic, "all", topic.latency_ms, topic.delivery)
    for part in case.partitions:
        number = None if part.partition is None else str(part.partition)
        yield _row("", part.topic, number, part.latency_ms, part.delivery)


def _row(
    case: str, topic: str | None, partition: str | None, legs: Legs | BriefLegs, delivery: Delivery
) -> TableRow:
    found = legs.intended_to_received if legs.intended_to_received.count else legs.sent_to_acked
    return row(
        case,
        topic,
        partition,
        found.min,
        found.mean,
        found.max,
        delivery.kib_per_s,
        delivery.messages_per_s,
        delivery.runtime_s,
    )
