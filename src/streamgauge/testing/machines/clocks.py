"""The clock of a machine: how it is wrong, and what is true when it shows something.

The monotonic clock is shifted by a time namespace, so the kernel knows of it; drift, the wall clock and jumps
are added by clock.c, which reads them from a file. All of it is known here: a time of any machine can be said
in the time of this one, which is what a measurement across machines is judged by.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.clock import NS_PER_MS, NS_PER_S

_LAW = struct.Struct("=qqqq")
_PPB_PER_PPM = 1000


@dataclass(frozen=True)
class ClockFault:
    """How a clock is wrong: by so much at the beginning, and by so much more in a million."""

    offset_ms: float = 0.0
    drift_ppm: float = 0.0

    @property
    def offset_ns(self) -> int:
        return round(self.offset_ms * NS_PER_MS)

    @property
    def drift_ppb(self) -> int:
        return round(self.drift_ppm * _PPB_PER_PPM)


class MachineClock:
    """`file`: where the processes of the machine read how their clock goes."""

    def __init__(self, fault: ClockFault, file: Path) -> None:
        self.fault, self.file = fault, file
        self._since_ns = time.monotonic_ns()
        self._jumped_ns = self._wall_jumped_ns = 0
        self._write()

    def true_ns(self, shown_ns: int) -> int:
        """A monotonic time of the machine, since its last jump, by this machine's monotonic clock."""
        since_ns, ppb = self._since_ns, self.fault.drift_ppb
        passed_ns = (shown_ns - self._jumped_ns - self.fault.offset_ns - since_ns) * NS_PER_S
        return since_ns + passed_ns // (NS_PER_S + ppb)

    def jump(self, by_ms: float, *, monotonic: bool = True) -> None:
        """From now on. Without `monotonic` only the wall clock does, as when somebody sets it."""
        by_ns = round(by_ms * NS_PER_MS)
        self._wall_jumped_ns += by_ns
        self._jumped_ns += by_ns if monotonic else 0
        self._write()

    def _write(self) -> None:
        fault = self.fault
        # In the machine's own time: its kernel's clock is shifted already.
        since_ns = self._since_ns + fault.offset_ns
        wall_ns = fault.offset_ns + self._wall_jumped_ns
        content = _LAW.pack(since_ns, fault.drift_ppb, self._jumped_ns, wall_ns)
        # In place: those who have it mapped are to see it.
        with self.file.open("r+b" if self.file.exists() else "wb") as stream:
            stream.write(content)
