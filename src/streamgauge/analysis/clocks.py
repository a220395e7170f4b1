"""Table `clocks`: the clock of each agent against the reference; and what that does to times.

On other hosts than the launcher's the clock was read before, during and after the case, by every agent there.
One line for the host (analysis/clock_line) says what to add at any moment, and how far that may be wrong; so
agents of one host are not wrong against each other.

A clock that is elsewhere from one reading to the next than any drift explains has jumped: its times are known
to that bound only, and it is said by how much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import pyarrow as pa

from streamgauge.analysis.clock_line import ClockLine, Reading, clock_line
from streamgauge.analysis.joining.facts import AgentClocks, Clock
from streamgauge.core.clock import MOST_DRIFT, NS_PER_MS
from streamgauge.tables.events import CLOCK_MARK
from streamgauge.tables.results import CLOCKS

_PPM = 1e6
_WALL_ERROR_NS = NS_PER_MS
"""What two readings of a wall clock may differ by for no reason: somebody was kept waiting between."""
_Row = Mapping[str, Any]


def clocks(marks: Iterable[_Row]) -> pa.Table:
    """One row: an agent that started."""
    marks = list(marks)
    lines, rows = clock_lines(marks), []
    for (case, agent), own in _by(marks, "case", "agent").items():
        start = _latest_start(own)
        if start is None:
            continue
        line = lines[case, agent]
        # Without readings the offset is the start's, and how far it moved since then is an error.
        since = [r for r in own if r["mark"] != CLOCK_MARK and r["at_ns"] >= start["at_ns"]]
        offset_ns = start["reference_offset_ns"]
        error_ns = max(abs(r["reference_offset_ns"] - offset_ns) + r["reference_error_ns"] for r in since)
        rows.append(
            {
                "case": case,
                "agent": agent,
                "hostname": max(r["hostname"] for r in since),
                "offset_ms": (line.offset_ns if line else offset_ns) / NS_PER_MS,
                "error_ms": (line.error_ns if line else error_ns) / NS_PER_MS,
                "drift_ppm": (line.drift if line else 0.0) * _PPM,
                "readings": line.readings if line else 0,
                **_breaks(own),
            }
        )
    return pa.Table.from_pylist(rows, schema=CLOCKS.arrow_schema())


def agent_clocks(marks: Iterable[_Row]) -> dict[str, AgentClocks]:
    """By case: what to add to the times of each agent."""
    marks = list(marks)
    lines = clock_lines(marks)
    found: dict[str, AgentClocks] = defaultdict(lambda: AgentClocks({}, {}))
    for (case, agent), of_agent in _by(marks, "case", "agent").items():
        read = lines[case, agent]
        # One agent may be several producers or consumers.
        for (kind, number), own in _by(of_agent, "kind", "number").items():
            start = _latest_start(own)
            if start is None or kind not in ("producer", "consumer"):
                continue
            line = read or ClockLine(0, start["reference_offset_ns"] or 0, 0.0, 0.0, 0)
            clock = Clock(line.offset_ns, line.anchor_ns, line.drift, start["wall_offset_ns"])
            (found[case].producers if kind == "producer" else found[case].consumers)[number] = clock
    return found


def clock_lines(marks: Iterable[_Row]) -> dict[tuple[str, str], ClockLine | None]:
    """By case and agent: that of its host's clock; None: nobody had to read it."""
    found: dict[tuple[str, str], ClockLine | None] = {}
    for (case, _), of_host in _by(marks, "case", "host").items():
        read = [row for row in of_host if row["mark"] == CLOCK_MARK]
        names = ("at_ns", "reference_offset_ns", "reference_error_ns")
        line = clock_line([Reading(*(row[name] for name in names)) for row in read])
        found |= {(case, row["agent"]): line for row in of_host}
    return found


def latest_starts(marks: Iterable[_Row]) -> dict[tuple[str, str], _Row]:
    """By case and agent, of those that started."""
    found = {place: _latest_start(own) for place, own in _by(marks, "case", "agent").items()}
    return {place: start for place, start in found.items() if start is not None}


def host_offsets_ns(marks: Iterable[_Row]) -> dict[tuple[str, str], int]:
    """By case and host: all its processes share one clock, so any agent's offset will do."""
    starts = _by(marks, "case", "host")
    found = {place: _latest_start(own) for place, own in starts.items()}
    return {place: start["reference_offset_ns"] for place, start in found.items() if start is not None}


def _breaks(marks: Iterable[_Row]) -> dict[str, float | None]:
    """What a line does not tell: jumps, and for how long nobody could look."""
    readings = sorted((row for row in marks if row["mark"] == CLOCK_MARK), key=lambda row: int(row["at_ns"]))
    steps, wall_steps, silences = [0.0], [0.0], [0.0]
    for before, after in pairwise(readings):
        slewed_ns = MOST_DRIFT * (after["at_ns"] - before["at_ns"])
        # What was to be added has become less: the clock is ahead of where it was.
        ahead_ns = before["reference_offset_ns"] - after["reference_offset_ns"]
        doubt_ns = before["reference_error_ns"] + after["reference_error_ns"] + slewed_ns
        has_jumped = abs(ahead_ns) > doubt_ns
        steps.append(ahead_ns if has_jumped else 0.0)
        # The wall clock, too, is read against this one.
        set_ns = after["wall_offset_ns"] - before["wall_offset_ns"] + (ahead_ns if has_jumped else 0)
        wall_steps.append(set_ns if abs(set_ns) > _WALL_ERROR_NS + slewed_ns else 0.0)
        # A wait in which the clock jumped was not as long as it looks.
        silences.append(0.0 if has_jumped else after["silent_ns"] or 0.0)
    jump_ns, wall_jump_ns = (max(found, key=abs) for found in (steps, wall_steps))
    return {
        "jump_ms": jump_ns / NS_PER_MS or None,
        "wall_jump_ms": wall_jump_ns / NS_PER_MS or None,
        "silent_ms": max(silences) / NS_PER_MS if readings else None,
    }


def _latest_start(marks: Iterable[_Row]) -> _Row | None:
    return max(
        (row for row in marks if row["mark"] == "start"), key=lambda row: int(row["at_ns"]), default=None
    )


def _by(rows: Iterable[_Row], *names: str) -> dict[Any, list[_Row]]:
    found: dict[Any, list[_Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found
