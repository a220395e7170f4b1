"""What goes through the launcher's file server when a case is measured, and whether that is too much.

Without storage that all hosts share, every agent writes its events to the launcher (launch/folder_server):
the journal as it measures, uncompressed, and packed files when it is done. One Python process takes it all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from streamgauge.core.run_dir import RunDir
from streamgauge.core.units import format_rate
from streamgauge.plan.cases import Case
from streamgauge.recording.journal import MOST_BYTES_ELSEWHERE
from streamgauge.spec.load import Load
from streamgauge.tables.column import Table
from streamgauge.tables.events import RECEIVES, SENDS

SERVED_BYTES_PER_S = 200e6
"""What one launcher took of several hosts (`python -m bench scale --only server`; docs/scale.md)."""
_COMFORTABLE = 0.7
PACKED_ROW_BYTES = 8.6
_WIDTHS = {"int8": 1, "int32": 4, "int64": 8}
_LONGEST_S = 60.0
"""How long the files of a case may take when it is over, before it is worth a word."""


@dataclass(frozen=True)
class ServedLoad:
    """Of one case."""

    case: str
    agents: int
    rate_per_s: float | None
    """Messages; None: as many as go."""
    measured_bytes_per_s: float
    """While it measures, of all agents; without a rate at the most."""
    written_bytes: float
    """When it is over; 0 where nobody knows how many messages there will be."""

    @property
    def is_too_much(self) -> bool:
        most = _COMFORTABLE * SERVED_BYTES_PER_S
        return self.measured_bytes_per_s > most or self.written_bytes / SERVED_BYTES_PER_S > _LONGEST_S

    def words(self) -> str:
        took = f"{SERVED_BYTES_PER_S / 1e6:.0f} MB/s"
        if self.measured_bytes_per_s > _COMFORTABLE * SERVED_BYTES_PER_S:
            rate = "as many as go" if self.rate_per_s is None else format_rate(self.rate_per_s)
            most = "up to " if self.rate_per_s is None else ""
            need = (
                f"{rate} are {most}{self.measured_bytes_per_s / 1e6:.0f} MB/s of events"
                f" from {self.agents} agents while it measures, and it takes about {took}"
            )
        else:
            seconds = self.written_bytes / SERVED_BYTES_PER_S
            need = (
                f"{self.written_bytes / 1e9:.1f} GB of events from {self.agents} agents take it about"
                f" {seconds:.0f} s at {took} when the case is over"
            )
        return (
            f"case {self.case}: events of other hosts go through the launcher: {need}; give --out a place"
            " that agents write to themselves (file:///a/shared/mount, s3a://…), see docs/scale.md"
        )


def served_load(case: Case) -> ServedLoad | None:
    """None: the case is about no load, and its family knows what it takes (Conduct.served_load)."""
    if not isinstance(case.work, Load):
        return None
    load = case.work
    rate = _most_per_s(load)
    copies = 1 if load.consumer_count else 0
    # Sends are written when they are there, and once more when their acks are.
    journal_bytes = 2 * _row_bytes(SENDS) + copies * _row_bytes(RECEIVES)
    packed_bytes = (1 + copies) * PACKED_ROW_BYTES
    total = (load.total_messages or 0) + load.total_warm_up_messages
    # As many as go may all be gone within a second; how many go in one nobody knows before.
    fastest = rate or (math.inf if load.total_messages is None else float(total))
    flowing = min(fastest * (journal_bytes + packed_bytes), float(len(case.agents) * MOST_BYTES_ELSEWHERE))
    return ServedLoad(case.id, len(case.agents), rate, flowing, total * packed_bytes)


def served_load_notes(
    cases: Iterable[Case],
    run: RunDir,
    address: str | None,
    load_of: Callable[[Case], ServedLoad | None] = served_load,
) -> Iterator[str]:
    """For the worst case of those that are too much; none where agents write for themselves."""
    if address is None or (run.is_everywhere and not run.is_behind_spark):
        return
    loads = [found for case in cases if (found := load_of(case)) is not None and found.is_too_much]
    if loads:
        yield max(loads, key=lambda load: (load.measured_bytes_per_s, load.written_bytes)).words()


def _most_per_s(load: Load) -> float | None:
    """Of a load in steps the fastest."""
    if isinstance(load.rate, tuple):
        return max(step.rate for step in load.rate)
    return load.rate if isinstance(load.rate, float) else None


def _row_bytes(table: Table) -> int:
    return sum(_WIDTHS.get(column.kind, 8) for column in table.columns)
