"""The document of a fan-out: a point for each series and number of clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.names import FOUND, TOLD
from streamgauge.families.fanout.outcomes import known_of
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.published import HARDWARE, SLIPS, published
from streamgauge.families.fanout.result_tables import POINT_HOSTS, POINTS, ROLES
from streamgauge.families.fanout.section import SCENARIOS
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.report.case_document import WarmUpCourse
from streamgauge.report.case_reading import course_of
from streamgauge.report.document import (
    Document,
    Glance,
    Part,
    Verdicts,
    head_of,
    judged_of,
    strict,
)
from streamgauge.report.outcomes import outcomes_of
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.tables.results import RESOURCES

_WHOLE = "3full"
"""The scenario whose updates are sent whole: what delta and patch are measured by."""
GATEWAY = "gateway"
UNFILTERED = "unfiltered"


class FanoutAccounting(Part):
    messages: int
    """that Kafka took, warm-up and all"""
    expected: int
    """updates due to all clients together"""
    received: int
    conflated: int | None
    """left out on purpose, for newer ones; null: the run was analysed before this was told"""
    missing: int
    """where there is conflation: of clients that got nothing at all, one each at least"""
    duplicate: int
    unexpected: int


class FanoutLatency(Part):
    """From when a message was due to when the client had it."""

    mean: float | None
    sd: float | None
    min: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p95: float | None
    p98: float | None
    p99: float | None
    p99_9: float | None
    max: float | None


class Wire(Part):
    to_clients_bits_per_s: float | None
    from_clients_bits_per_s: float | None
    bytes_per_client: float | None
    """that a client received in the whole case"""
    bytes_per_update: float | None
    broker_sent_bits_per_s: float | None
    broker_received_bits_per_s: float | None


class Use(Part):
    cpu_cores: float | None
    """kept busy while messages were sent, all its processes"""
    memory_bytes: float | None
    """most resident memory, all its processes"""


class UseByRole(Part):
    broker: Use
    gateway: Use
    swarm: Use
    producer: Use


class PublishedPoint(Part):
    mean_ms: float | None
    sd_ms: float | None
    holds: bool | None
    """null: nothing was published of it"""
    bits_per_s: float | None


class HostPart(Part):
    """What the clients of one host got, and what its processes used."""

    hostname: str
    agents: list[str]
    clients: int
    expected: int
    """updates due to them"""
    received: int
    missing: int
    """conflated ones among them"""
    duplicate: int
    unexpected: int
    samples: int
    mean_ms: float | None
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    cpu_cores: float | None
    """kept busy by the agents and gateways on it"""
    clock_error_ms: float | None = None
    """how far its clock may be from where it was taken to be; null: it is the reference"""


class Point(Verdicts):
    case: str
    series: str
    via: str
    """kafka-groups, kafka-standalone or gateway"""
    scenario: str
    clients: int
    holds: bool | None
    """all was delivered, and the mean is within the limit; null: not known"""
    rate_per_s: float | None
    max_frequency: float | str | None
    """of its subscriptions, updates of an item a second; null: Kafka's own clients have none"""
    measured_clients: int
    accounting: FanoutAccounting
    samples: int
    warm_up_messages: int
    """sent ahead, and not counted"""
    warm_up_course: WarmUpCourse | None
    """null: its length was fixed beforehand"""
    latency_ms: FanoutLatency
    wire: Wire
    use: UseByRole
    published: PublishedPoint
    hosts: list[HostPart] = []
    """each that agents of it ran on"""
    faults: list[FaultFigures] = []
    """what was done to its gateway meanwhile, and what that cost the measured clients"""

    @property
    def is_conflated(self) -> bool:
        return self.max_frequency not in (None, UNFILTERED)

    @property
    def delivering(self) -> tuple[Use, ...]:
        """What brings updates to clients: the broker, and the gateway where they come through one."""
        return (self.use.broker, self.use.gateway) if self.via == GATEWAY else (self.use.broker,)


class Saving(Part):
    """What a client of a gateway receives, over what one of Kafka does, or one that gets everything whole."""

    scenario: str
    against: str
    """a series, or the same gateway with whole updates"""
    clients: int
    """the most at which both held"""
    bytes_per_client: float
    against_bytes_per_client: float
    percent: float


class Published(Part):
    hardware: str
    slips: list[str]


class FanoutFound(Part):
    duration_s: float
    warm_up_s: float | None
    """null: until the load is at rest"""
    mean_limit_s: float
    size_bytes: int
    max_frequency: float | str
    scenarios: dict[str, str]
    points: list[Point]
    servers_there: list[str] = []
    """servers that the run did not start and whose use was seen, with how they were found"""
    savings: list[Saving]
    published: Published


class FanoutDocument(Document):
    fanout: FanoutFound

    row_field: ClassVar[str] = "fanout.points"

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        return {f"{point.series}, {point.clients:,} clients": point for point in self.fanout.points}

    @property
    def glances(self) -> Sequence[Glance]:
        return [
            Glance(point.rate_per_s, point.latency_ms.p50, point.latency_ms.p99, point.samples)
            for point in self.fanout.points
            if point.samples
        ]


def fanout_document(run: RunDir, plan: Plan, tables: ResultTables) -> FanoutDocument:
    asked = as_work(plan.cases[0].work, FanoutPoint).fanout
    points = [_point(tables.rows(POINTS, case.id)[0], case, tables) for case in plan.cases]
    for point in points:
        known = partial(known_of, point.model_dump(), tables)
        point.objectives = outcomes_of(plan.objectives, known, point.validity)
    used = dict.fromkeys(point.scenario for point in points)
    found = FanoutFound(
        duration_s=asked.duration,
        warm_up_s=None if asked.warm_up == "auto" else asked.warm_up,
        mean_limit_s=asked.mean_limit,
        size_bytes=asked.size,
        max_frequency=asked.max_frequency,
        scenarios={name: SCENARIOS[name].meaning for name in used},  # type: ignore[index]
        points=points,
        servers_there=_servers_there(tables),
        savings=savings(points),
        published=Published(hardware=HARDWARE, slips=list(SLIPS)),
    )
    # That a series comes to its end is what it was run for: the run is as good as the points that hold.
    held = [point for point in points if point.holds]
    head = head_of(run, plan, {point.case: point for point in points}, counted=held or points)
    return FanoutDocument(**head, fanout=found)


def _servers_there(tables: ResultTables) -> list[str]:
    """By their names in the samples, which say how they were found."""
    named = dict.fromkeys(tables.tables[RESOURCES.name]["source"].to_pylist())
    return sorted(name for name in named if f"({FOUND} " in name or f"({TOLD} " in name)


def _point(row: Row, case: Case, tables: ResultTables) -> Point:
    planned = as_work(case.work, FanoutPoint)
    ahead = planned.schedule(0).warm_up_count
    beside = published(row["scenario"], row["via"], row["clients"])
    told = beside.mean_sd_ms
    same = ("case", "series", "via", "scenario", "clients", "status", "holds", "rate_per_s")
    content = {
        **{name: row[name] for name in (*same, "measured_clients", "samples")},
        "max_frequency": planned.fanout.max_frequency if planned.via == GATEWAY else None,
        "warm_up_messages": sum(case.warm_up.messages.values()) if case.warm_up else ahead or 0,
        "warm_up_course": course_of(case.warm_up) if case.warm_up else None,
        "accounting": {name: row[name] for name in FanoutAccounting.model_fields},
        "latency_ms": {name: row[f"{name}_ms"] for name in FanoutLatency.model_fields},
        "wire": {name: row[name] for name in Wire.model_fields},
        "use": {role: {name: row[f"{role}_{name}"] for name in Use.model_fields} for role in ROLES},
        "published": {
            "mean_ms": told[0] if isinstance(told, tuple) else None,
            "sd_ms": told[1] if isinstance(told, tuple) else None,
            "holds": None if told is None else isinstance(told, tuple),
            "bits_per_s": beside.bits_per_s,
        },
        "hosts": [
            {**{name: host[name] for name in HostPart.model_fields}, "agents": host["agents"].split(", ")}
            for host in tables.rows(POINT_HOSTS, case.id)
        ],
        "faults": tables.faults.get(case.id, []),
    }
    return Point.model_validate(strict(content) | judged_of(tables, row))


def savings(points: list[Point]) -> list[Saving]:
    """Of the most clients at which both held: so many have the same keys, and get the same messages."""
    found = []
    by_series: dict[tuple[str, str], dict[int, Point]] = {}
    for point in points:
        if point.holds and point.wire.bytes_per_client:
            by_series.setdefault((point.via, point.scenario), {})[point.clients] = point
    for (via, scenario), mine in by_series.items():
        if via != GATEWAY:
            continue
        kind = SCENARIOS[scenario].kind  # type: ignore[index]
        for (other, theirs), whole in by_series.items():
            same_messages = SCENARIOS[theirs].kind == kind  # type: ignore[index]
            if not same_messages or (other == GATEWAY and (theirs != _WHOLE or scenario == _WHOLE)):
                continue
            if both := mine.keys() & whole.keys():
                found.append(_saving(mine[max(both)], whole[max(both)]))
    return found


def _saving(point: Point, base: Point) -> Saving:
    mine, whole = point.wire.bytes_per_client or 0.0, base.wire.bytes_per_client or 0.0
    return Saving(
        scenario=point.scenario,
        against=base.series if base.via != GATEWAY else "gateway, whole updates",
        clients=point.clients,
        bytes_per_client=mine,
        against_bytes_per_client=whole,
        percent=100 * mine / whole,
    )
