"""The tables of a fan-out, as published: one a scenario, a column for each number of clients, a row for each
series; beneath each row what was published of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamgauge.core.verdicts import Validity
from streamgauge.families.fanout.accounting_tables import accounting_table, conflation_tables
from streamgauge.families.fanout.document import GATEWAY, FanoutFound, Point, Saving
from streamgauge.families.fanout.host_table import host_tables
from streamgauge.families.fanout.point_names import clients_text, place_name
from streamgauge.families.fanout.result_tables import ROLES
from streamgauge.plan.warm_up_file import WarmUpEnding
from streamgauge.report.document import State
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import NOTHING
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, Value, row
from streamgauge.report.verdict_show import verdict_cells
from streamgauge.tables.percentile_support import is_supported

BROKE = "x"
PUBLISHED = "published"


def fanout_tables(fanout: FanoutFound) -> list[Table]:
    """All tables, in the order in which they are to be read."""
    tables: list[Table] = []
    for scenarios in _kinds(fanout.points):
        points = [point for point in fanout.points if point.scenario in scenarios]
        name = f"Scenario {scenarios[0]}" if len(scenarios) == 1 else f"Scenarios {', '.join(scenarios)}"
        tables += [
            _matrix(
                f"{name}: latency, ms",
                points,
                _mean_sd,
                _published_mean_sd,
                "Mean (standard deviation), from when a message was due; x: it did not hold.",
            ),
            _matrix(
                f"{name}: bit/s to clients",
                points,
                lambda point: _bits(point.wire.to_clients_bits_per_s),
                lambda point: _bits(point.published.bits_per_s),
                "At the clients' sockets; headers of TCP and IP are not counted.",
            ),
            _matrix(
                f"{name}: bit/s from clients",
                points,
                lambda point: _bits(point.wire.from_clients_bits_per_s),
                None,
            ),
            _percentile_table(f"{name}: percentiles, ms", points),
            accounting_table(f"{name}: every update", points),
            *conflation_tables(f"{name}: conflation", points),
            *_use_tables(name, points, fanout.servers_there),
            *host_tables(f"{name}: by host", points),
        ]
    if fanout.savings:
        tables.append(_savings_table(fanout.savings))
    return tables


def verdict_table(points: list[Point]) -> Table:
    heads = ("point", "holds", "status", "integrity", "validity")
    words = {True: ("holds", Tone.GOOD), False: ("does not hold", Tone.BAD), None: (NOTHING, Tone.QUIET)}
    rows = []
    for point in points:
        said, tone = words[point.holds]
        if tone is Tone.GOOD and point.validity.verdict is not Validity.VALID:
            tone = Tone.WARN  # what holds by figures that may not be quoted is no good news yet
        rows.append(row(place_name(point), Cell(said, tone), *verdict_cells(point), _warm_up(point)))
    return Table("Every point", [*(Column(head) for head in heads), Column("warm-up", Unit.S)], rows)


def _warm_up(point: Point) -> Cell:
    """Of one that went on until the load was at rest; the figure below says until what it did."""
    course = point.warm_up_course
    if course is None:
        return Cell(None)
    return Cell(course.end_s, Tone.PLAIN if course.ended is WarmUpEnding.AT_REST else Tone.WARN)


def _kinds(points: list[Point]) -> list[list[str]]:
    """Scenarios with the same messages are one table."""
    kinds: dict[str, list[str]] = {}
    for point in points:
        kind = kinds.setdefault(point.scenario[0], [])
        if point.scenario not in kind:
            kind.append(point.scenario)
    return list(kinds.values())


def _matrix(
    title: str,
    points: list[Point],
    cell: Callable[[Point], Cell],
    beside: Callable[[Point], Cell] | None,
    note: str | None = None,
) -> Table:
    counts = sorted({point.clients for point in points})
    rows: list[TableRow] = []
    for series in dict.fromkeys(point.series for point in points):
        mine = {point.clients: point for point in points if point.series == series}
        rows.append(row(series, *(cell(mine[n]) if n in mine else None for n in counts)))
        told = [beside(mine[n]) if beside and n in mine else Cell(None) for n in counts]
        if any(each.value is not None for each in told):
            rows.append(row(PUBLISHED, *told, is_beside=True))
    columns = [Column("clients"), *(Column(clients_text(n), Unit.NUMBER) for n in counts)]
    return Table(title, columns, rows, note)


def _bits(per_s: float | None) -> Cell:
    return Cell(per_s, unit=Unit.BITS_PER_S)


def _mean_sd(point: Point) -> Cell:
    if point.holds is False or point.status is State.NOT_RUN:
        return Cell(BROKE)
    if point.holds is None:
        return Cell("broken", Tone.BAD)
    doubtful = not is_supported("p50", point.samples)
    return _pair(point.latency_ms.mean, point.latency_ms.sd, is_doubtful=doubtful)


def _published_mean_sd(point: Point) -> Cell:
    told = point.published
    if told.holds is None:
        return Cell(None)
    return _pair(told.mean_ms, told.sd_ms) if told.holds else Cell(BROKE)


def _pair(mean: float | None, sd: float | None, *, is_doubtful: bool = False) -> Cell:
    if mean is None:
        return Cell(None)
    return Cell(f"{_short(mean)} ({NOTHING if sd is None else _short(sd)})", is_doubtful=is_doubtful)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 100 else f"{value:,.0f}"


def _use_tables(name: str, points: list[Point], servers_there: Sequence[str]) -> list[Table]:
    """CPU and network in one table, memory in another: both fit a console."""
    roles = [role for role in ROLES if any(getattr(p.use, role).cpu_cores is not None for p in points)]
    cores, memory = [], []
    for point in points:
        if point.status is State.NOT_RUN:
            continue
        uses = [getattr(point.use, role) for role in roles]
        busy: list[Value] = [use.cpu_cores for use in uses]
        cores.append(row(place_name(point), *busy, _cpu_per_update(point), _bits(_broker_bits(point))))
        per_client = point.use.swarm.memory_bytes
        each = None if per_client is None else per_client / point.clients
        used: list[Value] = [use.memory_bytes for use in uses]
        memory.append(row(place_name(point), *used, each))
    return [
        Table(
            f"{name}: cores kept busy",
            [
                Column("point"),
                *(Column(role, Unit.NUMBER) for role in roles),
                Column("µs/update", Unit.NUMBER),
                Column("broker sent", Unit.BITS_PER_S),
            ],
            cores,
            "All processes of a kind, while messages were sent. µs/update: CPU of broker and gateway for "
            f"each update to each client. Broker sent: bit/s at its sockets.{_unseen(points)}"
            f"{_there(servers_there)}",
        ),
        Table(
            f"{name}: memory",
            [
                Column("point"),
                *(Column(role, Unit.BYTES) for role in roles),
                Column("client", Unit.BYTES),
            ],
            memory,
            "Most resident memory. Swarm: all clients. Client: what one takes of it.",
        ),
    ]


def _broker_bits(point: Point) -> float | None:
    """Kafka's own clients are all whom the broker sends to."""
    return point.wire.broker_sent_bits_per_s if point.via == GATEWAY else point.wire.to_clients_bits_per_s


def _cpu_per_update(point: Point) -> float | None:
    """Of all that delivers. The gateway's CPU alone is not the price of an update: then it is not known."""
    messages, received = point.accounting.messages, point.accounting.received
    cores = [use.cpu_cores for use in point.delivering]
    known = [value for value in cores if value is not None]
    if not (point.rate_per_s and messages and received) or len(known) < len(cores):
        return None
    return 1e6 * sum(known) / (received / messages * point.rate_per_s)


def _there(servers: Sequence[str]) -> str:
    return f" Not started by this run: {', '.join(servers)}." if servers else ""


def _unseen(points: list[Point]) -> str:
    """Why some points have no price of an update."""
    unseen = {
        role
        for point in points
        if point.status is not State.NOT_RUN
        for role in (("broker", "gateway") if point.via == GATEWAY else ("broker",))
        if getattr(point.use, role).cpu_cores is None
    }
    if not unseen:
        return ""
    words = " and the ".join(sorted(unseen))
    return f" {NOTHING}: the CPU of the {words} was not seen: not started by this run, or on another host."


def _percentile_table(title: str, points: list[Point]) -> Table:
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "max": "max"}
    rows = []
    for point in points:
        if not point.samples:
            continue
        shown = [
            Cell(getattr(point.latency_ms, name), is_doubtful=not is_supported(name, point.samples))
            for name in names
        ]
        rows.append(row(place_name(point), point.samples, *shown))
    columns = [
        Column("point"),
        Column("samples", Unit.COUNT),
        *(Column(name, Unit.MS) for name in names.values()),
    ]
    return Table(title, columns, rows, "~ fewer than ten samples lie beyond it.")


def _savings_table(savings: Sequence[Saving]) -> Table:
    rows = [
        row(
            saving.scenario,
            saving.against,
            saving.clients,
            saving.bytes_per_client,
            saving.against_bytes_per_client,
            saving.percent,
        )
        for saving in savings
    ]
    columns = [
        Column("scenario"),
        Column("against"),
        Column("clients", Unit.COUNT),
        Column("bytes", Unit.BYTES),
        Column("against bytes", Unit.BYTES),
        Column("percent", Unit.PERCENT),
    ]
    note = (
        "In one case, both with as many clients, the same keys and the same messages; less than 100% is "
        "saved by filtering by key, by delta or by patch."
    )
    return Table("Bytes that one client of the gateway receives", columns, rows, note)
