"""What faults cost, as a table, and where they lie on the plots over time."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.fault_figures import CALM_S, FaultEffects, FaultFigures
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
    Column("unanswered", Unit.COUNT),
    Column("later", Unit.COUNT),
    Column("duplicate", Unit.COUNT),
    Column("redelivered", Unit.COUNT),
)
_EFFECTS = Column("effect")


def fault_blocks(
    faults: Sequence[FaultFigures], heading: str = "Faults", counted: str = "A message"
) -> list[Block]:
    """`counted`: what is late or lost."""
    if not faults:
        return []
    known = next((one.late_over_ms for one in faults if one.late_over_ms is not None), None)
    late = (
        "Nothing was received before the first fault, so it is not known what is late."
        if known is None
        else f"{counted} is late if it took more than {ms_text(known)}: ten times the median, or twice the "
        "99th percentile, before the first fault. Times count from the fault; it is recovered from when for "
        f"{CALM_S} s none is late, lost, failed or unanswered."
    )
    problems = [Note(f"{one.kind}: {one.problem}", Tone.WARN) for one in faults if one.problem]
    has_effects = any(one.effects for one in faults)
    columns = [*_COLUMNS, _EFFECTS] if has_effects else _COLUMNS
    rows = [_row(one, has_effects=has_effects) for one in faults]
    table = Table("Faults", columns, rows, note=late, name="faults", is_turned=True)
    return [Heading(heading), table, *problems]


def _row(one: FaultFigures, *, has_effects: bool) -> TableRow:
    recovered = Cell(one.recover_s) if one.is_recovered else Cell("not recovered", Tone.BAD, unit=Unit.TEXT)
    return row(
        one.kind,
        one.target or "none: not done",
        one.began_s,
        one.ended_s,
        one.detect_s,
        recovered,
        one.late_count,
        one.longest_ms,
        _fault_cell(one.failed_count),
        _fault_cell(one.lost_count),
        _fault_cell(one.unanswered_count),
        Cell(one.later_count, Tone.WARN if one.later_count else Tone.PLAIN),
        _fault_cell(one.duplicate_count),
        Cell(one.redelivered_count, Tone.WARN if one.redelivered_count else Tone.PLAIN),
        *([_effect_words(one.effects)] if has_effects else []),
    )


def _effect_words(effects: FaultEffects | None) -> str:
    if effects is None:
        return ""
    said = []
    if effects.refused_count is not None:
        said.append(f"{effects.refused_count:,} writes refused")
    if effects.delayed_count is not None:
        said.append(f"{effects.delayed_count:,} writes delayed")
    if effects.sessions_lost_count is not None:
        said.append(_session_words(effects))
    if effects.down_after_s is not None:
        said.append(f"down after {digits_text(effects.down_after_s)} s")
    return ", ".join(said)


def _session_words(effects: FaultEffects) -> str:
    lost = f"{effects.sessions_lost_count:,} sessions lost, {effects.sessions_back_count or 0:,} came back"
    after_s = effects.sessions_back_after_s
    return lost if after_s is None else f"{lost} within {digits_text(after_s)} s"


def _fault_cell(count: int) -> Cell:
    return Cell(count, Tone.BAD if count else Tone.PLAIN)


def fault_bands(faults: Sequence[FaultFigures], end_s: float) -> list[Band]:
    """From when each began until it was taken back; of one that could not be done, when it was tried."""
    bands = []
    for one in faults:
        if one.began_s is not None:
            lasted_to_s = end_s if one.target is not None else one.began_s
            over_s = lasted_to_s if one.ended_s is None else one.ended_s
            name = f"{one.kind} {one.target or ''} at {digits_text(one.began_s)} s"
            bands.append(Band(name, one.began_s, max(over_s, one.began_s + _LEAST_WIDTH_S)))
    return bands
