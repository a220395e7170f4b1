"""How a host's clock stands to the launcher's: measured before, during and after a case, with its bound.

An exchange asks the launcher for its time. The answer was made somewhere between question and answer, so the
offset lies between two values; several exchanges leave what is common to all of them: the quickest way there
bounds it on one side, the quickest way back on the other. How long the slowest took is kept, too: a host that
gets no answer for seconds was cut off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from streamgauge.agents.assignment import Assignment
from streamgauge.core.clock import MOST_DRIFT, ClockReading, clock_domain, now_ns, read_clocks
from streamgauge.core.environment import host_name
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.served_files import CLOCK_TARGET, FolderClient
from streamgauge.recording.parquet import EventFiles
from streamgauge.tables.events import CLOCK_MARK, MARKS

_EXCHANGES = 24
_EVERY_S = 2.0
_ASK_EVERY_S = 0.5
"""Between two readings, whether there is an answer at all."""
_JOIN_DEADLINE_S = 5.0


@dataclass(frozen=True)
class ClockOffset:
    """Add `offset_ns` to a time of this host near `at_ns` to get the launcher's, within `error_ns`."""

    at_ns: int
    offset_ns: int = 0
    error_ns: int = 0
    silent_ns: int = 0
    """The longest wait for an answer since the reading before."""
    wall_offset_ns: int = 0
    """What to add to a time of this host to get its wall time."""


def measured_offset(reference_ns: Callable[[], int], exchanges: int = _EXCHANGES) -> ClockOffset:
    """What several exchanges leave possible; `reference_ns` asks the launcher for its time."""
    told = []
    for _ in range(exchanges):
        asked_ns = now_ns()
        told_ns = reference_ns()
        told.append(_Exchange(asked_ns, told_ns, now_ns()))
    quickest = _in_common([min(told, key=lambda one: one.answered_ns - one.asked_ns)])
    known = [offset for offset in (quickest, _in_common(told)) if offset is not None]
    return min(known, key=lambda offset: offset.error_ns)


class _Exchange(NamedTuple):
    asked_ns: int
    told_ns: int
    answered_ns: int

    @property
    def middle_ns(self) -> int:
        return (self.asked_ns + self.answered_ns) // 2


def _in_common(exchanges: Sequence[_Exchange]) -> ClockOffset | None:
    """The offsets that all of them allow; None: the clock has jumped meanwhile, and there are none."""
    low_ns = max(one.told_ns - one.answered_ns for one in exchanges)
    high_ns = min(one.told_ns - one.asked_ns for one in exchanges)
    if low_ns > high_ns:
        return None
    first_ns, last_ns = exchanges[0].middle_ns, exchanges[-1].middle_ns
    drifted_ns = round(MOST_DRIFT * (last_ns - first_ns) / 2)
    error_ns = (high_ns - low_ns + 1) // 2 + drifted_ns
    return ClockOffset((first_ns + last_ns) // 2, (low_ns + high_ns) // 2, error_ns)


class ClockWatch:
    """Looks at the clock of this host now and then; not at all when it is the launcher's own."""

    def __init__(self, location: str, launcher_domain: str) -> None:
        self.is_needed = clock_domain() != launcher_domain
        self._client = FolderClient(location)
        self._seen: list[ClockOffset] = []
        self._silent_ns = 0
        self._reading: ClockReading | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, reading: Mapping[str, Any]) -> ClockOffset:
        """A case: look at once, then every few seconds, beside whatever goes on; `reading`: its agent's."""
        self._reading, self._seen, self._silent_ns = ClockReading(**reading), [], 0
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
        silent_ns, self._silent_ns = self._silent_ns, 0
        wall_offset_ns = read_clocks().wall_offset_ns
        self._seen.append(replace(offset, silent_ns=silent_ns, wall_offset_ns=wall_offset_ns))
        return offset

    def _watch(self) -> None:
        waits = 0
        while not self._stop.wait(min(_ASK_EVERY_S, _EVERY_S)):
            waits += 1
            with suppress(OSError):
                if waits * _ASK_EVERY_S >= _EVERY_S:
                    waits = 0
                    self._look()
                else:
                    self._ask()

    def _ask(self) -> int:
        asked_ns = now_ns()
        try:
            return int(self._client.ask("GET", CLOCK_TARGET) or 0)
        finally:  # who gets no answer at all has waited for it, too
            self._silent_ns = max(self._silent_ns, now_ns() - asked_ns)


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
        "wall_offset_ns": seen.wall_offset_ns,
        "silent_ns": seen.silent_ns,
    }
