"""Table `cpu`: CPU used during the measured phase, and per message.

Agents read their own CPU time when the phase begins and ends. Brokers are sampled
about once a second, so their use is interpolated at the same two moments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.resources import on_reference_clock
from streamgauge.core.clock import NS_PER_S
from streamgauge.tables.results import CASE, CPU, MEASURE

_US_PER_S = 1e6
_Row = Mapping[str, Any]


class _Used(NamedTuple):
    """By one process."""

    case: str
    kind: str
    cpu_s: float
    seconds: float


class _Point(NamedTuple):
    at_ns: float
    cpu_s: float


def cpu(samples: pa.Table, marks: Sequence[_Row], accounting: pa.Table) -> pa.Table:
    """One row: the processes of one kind in one case."""
    of_brokers = on_reference_clock(samples.filter(pc.field("kind") == "broker"), marks)
    kinds: dict[tuple[str, str], list[_Used]] = defaultdict(list)
    for used in (*_agents(marks), *_brokers(of_brokers.to_pylist(), marks)):
        if used.seconds > 0:
            kinds[used.case, used.kind].append(used)
    whole = accounting.filter((pc.field("scope") == CASE) & (pc.field("phase") == MEASURE)).to_pylist()
    handled = {(row["case"], kind): row[name] for row in whole for kind, name in _HANDLED.items()}
    rows = []
    for (case, kind), processes in kinds.items():
        cpu_s = sum(used.cpu_s for used in processes)
        messages = handled.get((case, kind))
        rows.append(
            {
                "case": case,
                "kind": kind,
                "processes": len(processes),
                "cpu_s": cpu_s,
                "busiest_cores": max(used.cpu_s / used.seconds for used in processes),
                "cpu_us_per_message": cpu_s * _US_PER_S / messages if messages else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=CPU.arrow_schema())


_HANDLED = {"producer": "sent", "broker": "sent", "consumer": "received"}
"""What the CPU of a kind is spent on."""


def _agents(marks: Iterable[_Row]) -> Iterator[_Used]:
    """A consumer's phase lasts until it has drained."""
    agents: dict[tuple[str, str, str], dict[str, _Point]] = defaultdict(dict)
    for row in marks:
        latest = agents[row["case"], row["kind"], row["agent"]]
        point = _Point(row["at_ns"], row["cpu_s"])
        latest[row["mark"]] = max(point, latest.get(row["mark"], point))
    for (case, kind, _), latest in agents.items():
        begin, end = latest.get("measure_begin"), latest.get("measure_end")
        if kind == "consumer":
            end = latest.get("drained", end)
        if begin is not None and end is not None:
            yield _Used(case, kind, end.cpu_s - begin.cpu_s, (end.at_ns - begin.at_ns) / NS_PER_S)


def _brokers(samples: Iterable[_Row], marks: Iterable[_Row]) -> Iterator[_Used]:
    """What lies outside of a broker's samples cannot be known, so the phase is cut to them."""
    phases = _phases(marks)
    brokers: dict[tuple[str, str, str], list[_Point]] = defaultdict(list)
    for row in samples:
        brokers[row["case"], row["host"], row["source"]].append(_Point(row["at_ns"], row["cpu_s"]))
    for (case, _, _), points in brokers.items():
        points.sort()
        begin_ns, end_ns = phases.get(case, (None, None))
        begin = points[0] if begin_ns is None else _interpolated(points, begin_ns)
        end = points[-1] if end_ns is None else _interpolated(points, end_ns)
        yield _Used(case, "broker", end.cpu_s - begin.cpu_s, (end.at_ns - begin.at_ns) / NS_PER_S)


def _phases(marks: Iterable[_Row]) -> dict[str, tuple[int | None, int | None]]:
    """By case: the measured phase of all its agents together, on the reference clock."""
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for row in marks:
        case, at_ns = row["case"], row["at_ns"] + row["reference_offset_ns"]
        if row["mark"] == "measure_begin":
            begins[case] = min(at_ns, begins.get(case, at_ns))
        elif row["mark"] in ("measure_end", "drained"):
            ends[case] = max(at_ns, ends.get(case, at_ns))
    return {case: (begins.get(case), ends.get(case)) for case in {**begins, **ends}}


def _interpolated(points: Sequence[_Point], edge_ns: int) -> _Point:
    """At the outermost sample where the edge lies beyond it."""
    before = max((point for point in points if point.at_ns <= edge_ns), default=None)
    after = min((point for point in points if point.at_ns >= edge_ns), default=None)
    if before is None or after is None:
        return points[0] if before is None else points[-1]
    gap_ns = after.at_ns - before.at_ns
    share = (edge_ns - before.at_ns) / gap_ns if gap_ns > 0 else 0.0
    return _Point(before.at_ns + share * gap_ns, before.cpu_s + share * (after.cpu_s - before.cpu_s))
