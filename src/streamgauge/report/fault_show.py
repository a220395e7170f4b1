"""What faults cost, as a table, and where they lie on the plots over time."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.fault_figures import FaultFigures
from streamgauge.report.medium import Tone
from streamgauge.report.plot_parts import Band
from streamgauge.report.quantities import digits_text, ms_text
from streamgauge.report.shown import Block, Heading, Note
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row

_LEAST_WIDTH_S = 0.25
"""So that a fault of a moment can be seen."""

_COLUMNS = (
    Column("fault"),
    Column("of"),
    Column("began", Unit.S),
    Column("ended", Unit.S),
    Column("detect", Unit.S),
    Column("recover", Unit.S),
    Column("late", Unit.COUNT),
    Column("longest", Unit.MS),
    Column("failed", Unit.COUNT),
    Column("lost", Unit.COUNT),
    Column("duplicate", Unit.COUNT),
)


def fault_blocks(faults: Sequence[FaultFigures]) -> list[Block]:
    if not faults:
        return []
    known = next((one.late_over_ms for one in faults if one.late_over_ms is not None), None)
    late = (
        "Nothing was received before the first fault, so nobody can say what is late."
        if known is None
        else f"Late is what took more than {ms_text(known)}: ten times the median, or twice the 99th "
        "percentile, before the first fault. Times count from the fault."
    )
    problems = [Note(f"{one.kind}: {one.problem}", Tone.WARN) for one in faults if one.problem]
    table = Table("Faults", _COLUMNS, [_row(one) for one in faults], note=late, name="faults", is_turned=True)
    return [Heading("Faults"), table, *problems]


def _row(one: FaultFigures) -> TableRow:
    recovered = Cell(one.recover_s) if one.is_recovered else Cell("not recovered", Tone.BAD, unit=Unit.TEXT)
    return row(
        one.kind,
        one.target or "nobody: not done",
        one.began_s,
        one.ended_s,
        one.detect_s,
        recovered,
        one.late_count,
        one.longest_ms,
        _fault_cell(one.failed_count),
        _fault_cell(one.lost_count),
        _fault_cell(one.duplicate_count),
    )


def _fault_cell(count: int) -> Cell:
    return Cell(count, Tone.BAD if count else Tone.PLAIN)


def fault_bands(faults: Sequence[FaultFigures], end_s: float) -> list[Band]:
    """From when each began until it was taken back."""
    return [
        Band(
            f"{one.kind} {one.target or ''} at {digits_text(one.began_s)} s",
            one.began_s,
            max(end_s if one.ended_s is None else one.ended_s, one.began_s + _LEAST_WIDTH_S),
        )
        for one in faults
        if one.began_s is not None
    ]
