"""Tables of what became of every update: what came, what did not, and what was left out on purpose."""

from __future__ import annotations

from streamgauge.families.fanout.document import Point
from streamgauge.families.fanout.point_names import place_name
from streamgauge.report.document import State
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import NOTHING
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row


def accounting_table(title: str, points: list[Point]) -> Table:
    names = ("expected", "missing", "duplicate", "unexpected")
    rows = [
        row(
            place_name(point),
            point.accounting.messages,
            point.rate_per_s,
            # Of what is left out on purpose a table of its own says more.
            *(
                None
                if point.is_conflated and name in names[:2]
                else _fault(getattr(point.accounting, name), name)
                for name in names
            ),
        )
        for point in points
        if point.status is not State.NOT_RUN
    ]
    columns = [
        Column("point"),
        Column("messages", Unit.COUNT),
        Column("rate/s", Unit.NUMBER),
        *(Column(name, Unit.COUNT) for name in names),
    ]
    note = (
        "Updates due to all clients together. Measured clients are looked at update by update, the others by "
        "their counts."
    )
    if any(point.is_conflated for point in points):
        note += f" {NOTHING}: some are left out on purpose, see the next table."
    return Table(title, columns, rows, note)


def conflation_tables(title: str, points: list[Point]) -> list[Table]:
    """Only where a limit was set: how much of what was sent came, and where the rest is."""
    limited = [point for point in points if point.is_conflated and point.status is not State.NOT_RUN]
    if not limited:
        return []
    rows = [
        row(
            place_name(point),
            _limit(point),
            point.accounting.messages,
            point.accounting.expected,
            point.accounting.conflated,
            point.accounting.received,
            _fault(point.accounting.missing, "missing"),
        )
        for point in limited
    ]
    columns = [
        Column("point"),
        Column("limit/s", Unit.NUMBER),
        *(Column(name, Unit.COUNT) for name in ("sent", "expected", "conflated", "received", "missing")),
    ]
    note = (
        "Limit: updates of an item a second. Conflated: left out for newer ones. What was lost cannot be "
        "told from these, but for clients that got nothing at all: each lacks one at least."
    )
    return [Table(title, columns, rows, note)]


def _limit(point: Point) -> str:
    """As it was asked for: no figure of ours, so without digits of ours."""
    limit = point.max_frequency
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _fault(count: int, name: str) -> Cell:
    return Cell(count, Tone.BAD if count and name != "expected" else Tone.PLAIN)
