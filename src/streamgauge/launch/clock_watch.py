"""How a host's clock stands to the launcher's: measured before, during and after a case, with its bound.

An exchange asks the launcher for its time. The answer was made somewhere between question and answer, so half
of the round trip bounds the error; of several exchanges the quickest is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.core.clock import ClockReading, clock_domain, now_ns
from streamgauge.core.environment import host_name
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.served_files import CLOCK_TARGET, FolderClient
from streamgauge.recording.parquet import EventFiles
from streamgauge.tables.events import CLOCK_MARK, MARKS

_EXCHANGES = 24
_EVERY_S = 2.0
_JOIN_DEADLINE_S = 5.0


@dataclass(frozen=True)
class ClockOffset:
    """Add `offset_ns` to a time of this host near `at_ns` to get the launcher's, within `error_ns`."""

    at_ns: int
    offset_ns: int = 0
    error_ns: int = 0


def measured_offset(reference_ns: Callable[[], int], exchanges: int = _EXCHANGES) -> ClockOffset:
    """The best of several exchanges; `reference_ns` asks the launcher for its time."""
    best: ClockOffset | None = None
    for _ in range(exchanges):
        asked_ns = now_ns()
        told_ns = reference_ns()
        answered_ns = now_ns()
        middle_ns, error_ns = (asked_ns + answered_ns) // 2, (answered_ns - asked_ns + 1) // 2
        if best is None or error_ns < best.error_ns:
            best = ClockOffset(middle_ns, told_ns - middle_ns, error_ns)
    assert best is not None
    return best


class ClockWatch:
    """Looks at the clock of this host now and then; not at all when it is the launcher's own."""

    def __init__(self, location: str, launcher_domain: str) -> None:
        self.is_needed = clock_domain() != launcher_domain
        self._client = FolderClient(location)
        self._seen: list[ClockOffset] = []
        self._reading: ClockReading | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, reading: Mapping[str, Any]) -> ClockOffset:
        """A case: look at once, then every few seconds, beside whatever goes on; `reading`: its agent's."""
        self._reading, self._seen = ClockReading(**reading), []
        first = self._look()
        if self.is_needed:
            self._stop.clear()
            self._thread = threading.Thread(target=self._watch, name="clock-watch", daemon=True)
            self._thread.start()
        return first

    def finish(self, assignment: Assignment) -> None:
        """Look once more, and write down what was seen; a launcher that is gone is noticed elsewhere."""
        self._stop.set()
        if self._thread is None or self._reading is None:
            return
        self._thread.join(_JOIN_DEADLINE_S)
        self._thread, reading = None, self._reading
        with suppress(OSError):
            self._look()
        with suppress(StreamgaugeError):
            task = assignment.task
            files = EventFiles(assignment.run_dir, assignment.case, f"{task.agent}-{CLOCK_MARK}")
            files.write_rows(MARKS, [_row(assignment, reading, seen) for seen in self._seen])

    def _look(self) -> ClockOffset:
        offset = measured_offset(self._ask) if self.is_needed else ClockOffset(now_ns())
        self._seen.append(offset)
        return offset

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY_S):
            with suppress(OSError):
                self._look()

    def _ask(self) -> int:
        return int(self._client.ask("GET", CLOCK_TARGET) or 0)


def _row(assignment: Assignment, reading: ClockReading, seen: ClockOffset) -> dict[str, Any]:
    task = assignment.task
    return {
        "agent": task.agent,
        "kind": task.kind,
        "number": task.number,
        "host": reading.host,
        "hostname": host_name(),
        "mark": CLOCK_MARK,
        "at_ns": seen.at_ns,
        "cpu_s": 0.0,
        "reference_offset_ns": seen.offset_ns,
        "reference_error_ns": seen.error_ns,
        "wall_offset_ns": reading.wall_offset_ns,
    }
