"""The tables of a fan-out, as text in rows and columns: for the console, the page and Markdown alike.

As published: one table a scenario, a column for each number of clients, a row for each series; beneath each
row what was published of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from streamgauge.core.units import format_bytes
from streamgauge.report.old_shape import Document
from streamgauge.report.quantities import NOTHING

BROKE = "x"
PUBLISHED = "published"
_ROLES = {"broker": "broker", "gateway": "gateway", "swarm": "clients", "producer": "generator"}


@dataclass
class TextTable:
    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    """The first cell of a row is its heading."""
    note: str = ""


def fanout_tables(fanout: Document) -> list[TextTable]:
    """All tables, in the order in which they are to be read."""
    tables: list[TextTable] = []
    for scenarios in _families(fanout["points"]):
        points = [point for point in fanout["points"] if point["scenario"] in scenarios]
        name = f"Scenario {scenarios[0]}" if len(scenarios) == 1 else f"Scenarios {', '.join(scenarios)}"
        tables.append(_matrix(f"{name}: latency, ms", points, _mean_sd, _published_mean_sd))
        tables[-1].note = "Mean (standard deviation), from when a message was due; x: it did not hold."
        tables.append(_matrix(f"{name}: bit/s to clients", points, _bits_to_clients, _published_bits))
        tables[-1].note = "At the clients' sockets; headers of TCP and IP are not counted."
        tables.append(_matrix(f"{name}: bit/s from clients", points, _bits_from_clients, None))
        tables.append(_percentile_table(f"{name}: percentiles, ms", points))
        tables.append(_accounting_table(f"{name}: every update", points))
        tables += _use_tables(name, points)
    if fanout["savings"]:
        tables.append(_savings_table(fanout["savings"]))
    return tables


def clients_text(clients: int) -> str:
    return f"{clients / 1000:g}K" if clients >= 1000 else str(clients)


def bits_text(bits_per_s: float | None) -> str:
    """As published: 14.5M, 1.16G."""
    if bits_per_s is None:
        return NOTHING
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if bits_per_s >= size:
            return f"{bits_per_s / size:.3g}{unit}"
    return f"{bits_per_s:.0f}"


def _families(points: list[Document]) -> list[list[str]]:
    """Scenarios with the same messages are one table."""
    families: dict[str, list[str]] = {}
    for point in points:
        family = families.setdefault(point["scenario"][0], [])
        if point["scenario"] not in family:
            family.append(point["scenario"])
    return list(families.values())


def _matrix(
    title: str,
    points: list[Document],
    cell: Callable[[Document], str],
    beside: Callable[[Document], str] | None,
) -> TextTable:
    counts = sorted({point["clients"] for point in points})
    table = TextTable(title, ["clients", *map(clients_text, counts)])
    for series in dict.fromkeys(point["series"] for point in points):
        mine = {point["clients"]: point for point in points if point["series"] == series}
        table.rows.append([series, *(cell(mine[n]) if n in mine else NOTHING for n in counts)])
        told = [beside(mine[n]) if beside and n in mine else NOTHING for n in counts]
        if any(text != NOTHING for text in told):
            table.rows.append([PUBLISHED, *told])
    return table


def _mean_sd(point: Document) -> str:
    if point["holds"] is False:
        return BROKE
    if point["holds"] is None:
        return BROKE if _is_beyond(point) else "broken"
    return _pair(point["latency_ms"]["mean"], point["latency_ms"]["sd"])


def _is_beyond(point: Document) -> bool:
    """Not run, because fewer clients were too many already."""
    return any("did not hold" in reason for reason in point["reasons"])


def _published_mean_sd(point: Document) -> str:
    told = point["published"]
    if told["holds"] is None:
        return NOTHING
    return _pair(told["mean_ms"], told["sd_ms"]) if told["holds"] else BROKE


def _pair(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return NOTHING
    return f"{_short(mean)} ({NOTHING if sd is None else _short(sd)})"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 100 else f"{value:,.0f}"


def _bits_to_clients(point: Document) -> str:
    return bits_text(point["wire"]["to_clients_bits_per_s"])


def _bits_from_clients(point: Document) -> str:
    return bits_text(point["wire"]["from_clients_bits_per_s"])


def _published_bits(point: Document) -> str:
    return bits_text(point["published"]["bits_per_s"])


def _use_tables(name: str, points: list[Document]) -> list[TextTable]:
    """CPU and network in one table, memory in another: both fit a console."""
    roles = [role for role in _ROLES if any(point["use"][role]["cpu_cores"] is not None for point in points)]
    names = [_ROLES[role] for role in roles]
    cores = TextTable(f"{name}: cores kept busy", ["", *names, "µs/update", "broker out"])
    memory = TextTable(f"{name}: memory", ["", *names, "a client"])
    for point in points:
        if point["status"] == "not run":
            continue
        use, place = point["use"], _place(point)
        busy = [_cores(use[role]["cpu_cores"]) for role in roles]
        cores.rows.append([place, *busy, _cpu_per_update(point), bits_text(_broker_bits(point))])
        used = [_memory(use[role]["memory_bytes"]) for role in roles]
        memory.rows.append([place, *used, _memory_per_client(point)])
    cores.note = (
        "All processes of a kind, while messages were sent. µs/update: CPU of broker and gateway for each "
        "update to each client. Broker out: bit/s at its sockets."
    )
    memory.note = "Most resident memory. A client: what it takes in its swarm."
    return [cores, memory]


def _place(point: Document) -> str:
    return f"{point['series']}, {clients_text(point['clients'])}"


def _memory_per_client(point: Document) -> str:
    used = point["use"]["swarm"]["memory_bytes"]
    return NOTHING if used is None else format_bytes(used / point["clients"])


def _broker_bits(point: Document) -> float | None:
    """Kafka's own clients are all whom the broker sends to."""
    if point["via"] != "gateway":
        return point["wire"]["to_clients_bits_per_s"]  # type: ignore[no-any-return]
    return point["wire"]["broker_sent_bits_per_s"]  # type: ignore[no-any-return]


def _cpu_per_update(point: Document) -> str:
    """Of what delivers: the broker, or broker and gateway."""
    rate, expected = point["rate_per_s"], point["accounting"]["messages"]
    received = point["accounting"]["received"]
    cores = [point["use"][role]["cpu_cores"] for role in ("broker", "gateway")]
    known = [value for value in cores if value is not None]
    if not (rate and expected and received and known):
        return NOTHING
    updates_per_s = received / expected * rate
    return f"{1e6 * sum(known) / updates_per_s:.1f}"


def _accounting_table(title: str, points: list[Document]) -> TextTable:
    table = TextTable(title, ["", "messages", "rate/s", "expected", "missing", "again", "strange"])
    for point in points:
        if point["status"] == "not run":
            continue
        counts = point["accounting"]
        rate = NOTHING if point["rate_per_s"] is None else f"{point['rate_per_s']:.3f}"
        names = ("expected", "missing", "duplicate", "unexpected")
        told = [f"{counts[name]:,}" for name in names]
        table.rows.append([_place(point), f"{counts['messages']:,}", rate, *told])
    table.note = (
        "Updates due to all clients together. Measured clients are looked at update by update, the others by "
        "their counts."
    )
    return table


def _percentile_table(title: str, points: list[Document]) -> TextTable:
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "max": "max"}
    table = TextTable(title, ["", "samples", *names.values()])
    for point in points:
        if not point["samples"]:
            continue
        shown = [_short(point["latency_ms"][name]) for name in names]
        table.rows.append([_place(point), f"{point['samples']:,}", *shown])
    return table


def _savings_table(savings: list[Document]) -> TextTable:
    table = TextTable(
        "Bytes that one client of the gateway receives", ["scenario", "against", "bytes", "of", "%"]
    )
    for row in savings:
        bytes_text = [format_bytes(row[name]) for name in ("bytes_per_client", "against_bytes_per_client")]
        table.rows.append([row["scenario"], row["against"], *bytes_text, f"{row['percent']:.1f}"])
    table.note = "In one case; less than 100% is saved by filtering by key, by delta or by patch."
    return table


def _cores(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _memory(value: float | None) -> str:
    return NOTHING if value is None else format_bytes(value)
