"""The tables of a run: those of its family, else those of messages."""

from __future__ import annotations

from streamgauge.spec.families import family_of
from streamgauge.tables.column import Table
from streamgauge.tables.events import EVENT_TABLES
from streamgauge.tables.results import RESULT_TABLES


def event_tables_of(kind: str) -> tuple[Table, ...]:
    """All that agents write."""
    own = family_of(kind).event_tables()
    return EVENT_TABLES if own is None else own


def result_tables_of(kind: str) -> tuple[Table, ...]:
    """All that the analysis makes."""
    own = family_of(kind).result_tables()
    return RESULT_TABLES if own is None else own
