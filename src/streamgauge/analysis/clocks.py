"""Table `clocks`: the clock of each agent against the reference; and what that does to times.

On other hosts than the launcher's the clock was read before, during and after the case. A line through the
first and the last reading says what to add at any moment. The bound is that of these two readings, and as
much more as any reading in between lies beyond its own bound from the line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from streamgauge.analysis.joining.facts import AgentClocks, Clock
from streamgauge.core.clock import NS_PER_MS
from streamgauge.tables.events import CLOCK_MARK
from streamgauge.tables.results import CLOCKS

_PPM = 1e6
_Row = Mapping[str, Any]


class _Line(NamedTuple):
    anchor_ns: int
    offset_ns: int
    drift: float
    error_ns: float
    readings: int


def clocks(marks: Iterable[_Row]) -> pa.Table:
    """One row: an agent that started."""
    rows = []
    for (case, agent), own in _by(marks, "case", "agent").items():
        start = _latest_start(own)
        if start is None:
            continue
        line = _line(own)
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
            }
        )
    return pa.Table.from_pylist(rows, schema=CLOCKS.arrow_schema())


def agent_clocks(marks: Iterable[_Row]) -> dict[str, AgentClocks]:
    """By case: what to add to the times of each agent."""
    found: dict[str, AgentClocks] = defaultdict(lambda: AgentClocks({}, {}))
    for (case, _), of_agent in _by(marks, "case", "agent").items():
        read = _line(of_agent)
        # One agent may be several producers or consumers.
        for (kind, number), own in _by(of_agent, "kind", "number").items():
            start = _latest_start(own)
            if start is None or kind not in ("producer", "consumer"):
                continue
            line = read or _Line(0, start["reference_offset_ns"] or 0, 0.0, 0.0, 0)
            clock = Clock(line.offset_ns, line.anchor_ns, line.drift, start["wall_offset_ns"])
            (found[case].producers if kind == "producer" else found[case].consumers)[number] = clock
    return found


def host_offsets_ns(marks: Iterable[_Row]) -> dict[tuple[str, str], int]:
    """By case and host: all its processes share one clock, so any agent's offset will do."""
    starts = _by(marks, "case", "host")
    found = {place: _latest_start(own) for place, own in starts.items()}
    return {place: start["reference_offset_ns"] for place, start in found.items() if start is not None}


def _line(marks: Iterable[_Row]) -> _Line | None:
    """Through the first and the last reading of an agent's clock."""
    names = ("at_ns", "reference_offset_ns", "reference_error_ns")
    readings = sorted(tuple(row[name] for name in names) for row in marks if row["mark"] == CLOCK_MARK)
    if not readings:
        return None
    (first_ns, offset_ns, first_error_ns), (last_ns, last_offset_ns, last_error_ns) = (
        readings[0],
        readings[-1],
    )
    drift = (last_offset_ns - offset_ns) / (last_ns - first_ns) if last_ns > first_ns else 0.0
    beside_ns = (abs(o - (offset_ns + drift * (at - first_ns))) - error for at, o, error in readings)
    error_ns = max(first_error_ns, last_error_ns) + max(0.0, *beside_ns)
    return _Line(first_ns, offset_ns, drift, error_ns, len(readings))


def _latest_start(marks: Iterable[_Row]) -> _Row | None:
    return max(
        (row for row in marks if row["mark"] == "start"), key=lambda row: int(row["at_ns"]), default=None
    )


def _by(rows: Iterable[_Row], *names: str) -> dict[Any, list[_Row]]:
    found: dict[Any, list[_Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found
