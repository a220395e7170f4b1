"""How the agents of a case meet: a contract, so that agents know nothing of Spark.

agent                                    the others
ready(reading)     ── all are there ──▶  Start: the agreed time, this host's clock offset
both, where the warm-up lasts until the load is at rest: tell_levels ─▶  measured_slot() ◀─
producer: finished(ends)  ───────────▶   when all producers have said so,
consumer: producers_finished()  ◀─────   consumers read what is left, and end
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from streamgauge.core.clock import ClockReading

Levels = list[tuple[int, float | None, float]]
"""By slot: messages sent, or received; the median latency in ns of those received (None: there was none); CPU
seconds used so far."""
Ends = Mapping[tuple[int, int], int]
"""By (topic, partition): the offset after the last one."""


@dataclass(frozen=True)
class Start:
    """When to start, on this host's monotonic clock, and how that clock stands to the reference."""

    at_ns: int
    reference_offset_ns: int = 0
    reference_error_ns: int = 0
    sample_machine: bool = False
    """This agent is the one that looks after its whole machine."""
    producer_offsets_ns: Mapping[str, int] = field(default_factory=dict)
    """By a producer's number: how its clock stands to the reference; empty when all share one clock."""
    producer_wall_offsets_ns: Mapping[str, int] = field(default_factory=dict)
    """The same: what to add to its times to get its wall time, which is in what it sends; empty as well."""

    def wall_offset_of_producer_ns(self, number: int) -> int | None:
        """What to add to a time of this host to get the wall time that this producer's host had then; None:
        it is this host's own."""
        if str(number) not in self.producer_wall_offsets_ns:
            return None
        to_theirs_ns = self.reference_offset_ns - self.producer_offsets_ns[str(number)]
        return to_theirs_ns + self.producer_wall_offsets_ns[str(number)]


class Rendezvous(Protocol):
    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        """Say that all is connected, and wait for the others; `meanwhile` is called over and over."""

    def tell_levels(self, levels: Levels) -> None:
        """Say what the load was like so far, for the launcher to find when it is at rest."""

    def measured_slot(self) -> int | None:
        """The slot since which messages count, by what is known now; None until then. Never waits."""

    def finished(self, ends: Ends) -> None:
        """Say that this producer has sent all, and has been told what became of it: up to these ends."""

    def producers_finished(self) -> bool:
        """Have all producers finished? Never waits."""

    def acked_ends(self) -> Ends:
        """How far each partition must go, by what producers were told; empty when that is not known."""

    def stopping(self) -> bool:
        """Has the run been given up? Then keep what there is, and end."""
