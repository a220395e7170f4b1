"""The table of hosts: whose clients got what, wherever a point ran on more than one."""

from __future__ import annotations

from streamgauge.families.fanout.document import HostPart, Point
from streamgauge.families.fanout.point_names import place_name
from streamgauge.report.medium import Tone
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

_COUNTS = ("clients", "expected", "missing", "duplicate", "unexpected")
_FAULTS = frozenset(_COUNTS[2:])


def host_tables(title: str, points: list[Point]) -> list[Table]:
    rows = [
        row(
            place_name(point),
            host.hostname,
            ", ".join(host.agents),
            *(_count(point, host, name) for name in _COUNTS),
            host.p50_ms,
            host.p99_ms,
            host.cpu_cores,
            host.clock_error_ms,
        )
        for point in points
        if len(point.hosts) > 1
        for host in point.hosts
    ]
    if not rows:
        return []
    columns = [
        Column("point"),
        Column("host"),
        Column("agents"),
        *(Column(name, Unit.COUNT) for name in _COUNTS),
        Column("p50 ms", Unit.MS),
        Column("p99 ms", Unit.MS),
        Column("cores", Unit.NUMBER),
        Column("clock error, ms", Unit.MS),
    ]
    note = (
        "Updates due to the clients of a host. Cores: kept busy by the agents and gateways on it. Clock: how "
        "far it may be from where it was taken to be; latencies may be off by that and by the generator's."
    )
    return [Table(title, columns, rows, note)]


def _count(point: Point, host: HostPart, name: str) -> Cell:
    """A host without clients has nothing due; what conflation left out is no fault."""
    count = getattr(host, name)
    if not host.clients and name != "clients":
        return Cell(None)
    is_fault = name in _FAULTS and not (name == "missing" and point.is_conflated)
    return Cell(count, Tone.BAD if count and is_fault else Tone.PLAIN)
