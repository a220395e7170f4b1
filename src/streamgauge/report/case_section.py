"""What there is to see of one case of messages."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.report.case_document import BriefStatistics, Case, Partition, Statistics, Topic
from streamgauge.report.cause_words import limit_text
from streamgauge.report.fault_show import fault_blocks
from streamgauge.report.figures import percentile_figure
from streamgauge.report.hosts import clock_words, hosts_of
from streamgauge.report.medium import ON_CONSOLE, ON_PAGE, ON_PAPER, Tone
from streamgauge.report.parameters import load_sentence
from streamgauge.report.plot_parts import Figure
from streamgauge.report.quantities import (
    NOTHING,
    bytes_per_s_text,
    count_text,
    digits_text,
    ms_text,
    rate_per_s_text,
    s_text,
    us_text,
)
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.settings_text import value_text
from streamgauge.report.shown import (
    Block,
    Figures,
    Heading,
    Note,
    Pairs,
    Section,
    Share,
    Shares,
    Tile,
    Tiles,
)
from streamgauge.report.shown_tables import Cell, Column, Table, TableRow, Unit, row
from streamgauge.report.time_figures import (
    cpu_figure,
    latency_figure,
    memory_figure,
    schedule_lag_figure,
    throughput_figure,
    traffic_figure,
)
from streamgauge.report.verdict_show import cause_blocks, part_badge
from streamgauge.report.verification_show import verification_blocks
from streamgauge.report.warm_up_figure import warm_up_figure
from streamgauge.report.words import (
    COUNT_MEANINGS,
    COUNT_NAMES,
    LEG_NAMES,
    STATISTIC_NAMES,
    case_title,
    checked_of,
    claims_acks,
    warm_up_sentence,
    without_outcome_of,
)
from streamgauge.tables.faults import FAULTS
from streamgauge.tables.percentile_support import is_supported
from streamgauge.tables.results import HISTOGRAM, RESOURCES

_EVENTS = ("sent", "acked", "received")
LATENCIES = "Latency of each leg, ms"
_ROWS_ALONE, _ROWS_OF_MANY = 500, 50
"""Of a folded table, which a thousand partitions would make as large as all the rest of a page."""
_BRIEF_LATENCIES = ("min", "mean", "p50", "p99", "max")
_BRIEF_COUNTS = ("sent", "received", "lost_write", "unseen", "duplicate", "out_of_order")


def percentile_cell(statistics: Statistics | BriefStatistics, name: str) -> Cell:
    """A percentile with too few messages behind it is not printed as if it were known."""
    value = getattr(statistics, name)
    return Cell(value, is_doubtful=value is not None and not is_supported(name, statistics.count))


def case_section(case: Case, tables: ResultTables, *, is_open: bool, is_alone: bool) -> Section:
    about = f"{case.driver} · {load_sentence(case.parameters)}"
    # Of a single case the top has said it.
    blocks: list[Block] = [] if is_alone else [Note(about)]
    blocks += cause_blocks(case)
    if case.is_measured:
        blocks += _measured(case, tables)
    else:
        blocks.append(Note("No message was measured.", Tone.WARN))
    return Section(
        f"Case {case.case}",
        [*blocks, Heading("Details"), *_details(case, _ROWS_ALONE if is_alone else _ROWS_OF_MANY)],
        id=f"case-{case.case}",
        subtitle=case_title(case),
        badges=[part_badge(case)],
        is_open=is_open,
    )


def _measured(case: Case, tables: ResultTables) -> list[Block]:
    resources = tables.rows(RESOURCES, case.case)
    latencies = [
        percentile_figure(case, tables.rows(HISTOGRAM, case.case)),
        latency_figure(case),
        warm_up_figure(case.warm_up_course),
    ]
    usage = [figure(case, resources) for figure in (cpu_figure, memory_figure, traffic_figure)]
    warm_up = warm_up_sentence(case)
    return [
        accounting_tiles(case),
        *_shares(case),
        *([Note(warm_up)] if warm_up else []),
        *fault_blocks(case.faults),
        *verification_blocks(case.verification),
        Heading("Latency"),
        _figures(latencies),
        latency_table(case),
        Heading("Load"),
        load_table(case),
        Pairs(_rate_pairs(case), where=ON_CONSOLE),
        Pairs(_load_pairs(case)),
        _figures([throughput_figure(case), schedule_lag_figure(case)]),
        Heading("Resources"),
        Pairs(_resource_pairs(case)),
        _figures(usage),
    ]


def _figures(found: Sequence[Figure | None]) -> Figures:
    return Figures([figure for figure in found if figure is not None])


def accounting_tiles(case: Case) -> Tiles:
    """Every count; what nobody looked for is not said to be absent."""
    checked, missing = checked_of(case), without_outcome_of(case)
    asked = {"received": case.parameters.consumers > 0, "acked": claims_acks(case)}
    tiles = []
    for name, title in COUNT_NAMES.items():
        count = getattr(case.accounting, name)
        if name == "aborted" and not count:
            continue
        is_fault = name in FAULTS
        tone = (Tone.BAD if count else Tone.GOOD) if is_fault else Tone.PLAIN
        is_checked = name in checked if is_fault else asked.get(name, True)
        tiles.append(Tile(title, count_text(count), COUNT_MEANINGS[name], tone, is_checked))
    if missing:
        meaning = "neither acked, nor failed, nor received"
        tiles.append(Tile("without outcome", count_text(missing), meaning, Tone.BAD))
    return Tiles("Accounting", tiles)


def _shares(case: Case) -> list[Shares]:
    """What became of every message sent, as parts of one bar and in words."""
    counts = case.accounting
    if not case.parameters.consumers:
        return []
    lost = counts.lost_write + counts.unseen
    rest = counts.sent - counts.received - lost
    shares = [
        Share("received", counts.received, Tone.GOOD),
        Share("lost or unseen", lost, Tone.BAD),
        Share("aborted as planned", counts.aborted, Tone.PLAIN),
        Share("failed, damaged or without outcome", max(0, rest - counts.aborted), Tone.WARN),
    ]
    words = ", ".join(f"{_share_text(s.count, counts.sent)} {s.name}" for s in shares if s.count)
    return [Shares(f"Of {count_text(counts.sent)} sent: {words}.", shares)]


def _share_text(count: int, of: int) -> str:
    """Never rounds a loss away, nor up to all."""
    if count == of:
        return "100%"
    percent = 100 * count / of
    return "over 99.99%" if percent > 99.99 else "under 0.01%" if percent < 0.01 else f"{percent:.2f}%"


def latency_table(case: Case) -> Table:
    negative = any(statistics.negative_count for statistics in case.legs.values())
    names = [name for name in STATISTIC_NAMES if name != "negative_count" or negative]
    columns = [Column("leg")] + [
        Column(STATISTIC_NAMES[name], Unit.COUNT if name.endswith("count") else Unit.MS) for name in names
    ]
    rows = [
        row(LEG_NAMES[leg], *(percentile_cell(statistics, name) for name in names))
        for leg, statistics in case.legs.items()
        if statistics.count
    ]
    return Table(
        LATENCIES,
        columns,
        rows,
        note="Broker times are whole milliseconds: their legs are off by up to 1 ms. "
        "~ fewer than ten messages lie beyond it.",
        is_turned=True,
    )


def load_table(case: Case) -> Table:
    rows = [
        row(
            name,
            getattr(case.throughput, f"{name}_messages_per_s"),
            getattr(case.throughput, f"{name}_bytes_per_s"),
            getattr(case.range_s, name),
        )
        for name in _EVENTS
    ]
    rows.append(row("broker", None, None, case.range_s.broker))
    columns = [
        Column("time"),
        Column("messages", Unit.PER_S),
        Column("bytes", Unit.BYTES_PER_S),
        Column("range", Unit.S),
    ]
    return Table("Throughput, and the range from the first to the last", columns, rows, where=ON_PAPER)


def _rate_pairs(case: Case) -> list[tuple[str, Sequence[str]]]:
    """What paper has as a table."""
    return [
        ("throughput", _rates(case)),
        ("range", [f"{name} {s_text(value)}" for name, value in case.range_s if value is not None]),
    ]


def _load_pairs(case: Case) -> list[tuple[str, Sequence[str]]]:
    lag, drift = case.schedule_lag_ms, case.drift_ms_per_s
    lags = [f"{name} {ms_text(getattr(lag, name))}" for name in ("p50", "p99", "max")]
    pairs: list[tuple[str, Sequence[str]]] = [("schedule lag", [*lags, noise_floor_text(case)])]
    if drift is not None:
        pairs.append(("drift", [f"{digits_text(drift)} ms per second, of the median latency"]))
    return pairs


def noise_floor_text(case: Case) -> str:
    """What a bare pacer beside it got, where somebody asked one."""
    floor = case.noise_floor_p99_ms
    return "noise floor not known" if floor is None else f"noise floor p99 {ms_text(floor)}"


def _rates(case: Case) -> list[str]:
    found = []
    for name in _EVENTS:
        per_s = getattr(case.throughput, f"{name}_messages_per_s")
        if per_s is not None:
            size = bytes_per_s_text(getattr(case.throughput, f"{name}_bytes_per_s"))
            found.append(f"{name} {rate_per_s_text(per_s)} ({size})")
    return found


def _resource_pairs(case: Case) -> list[tuple[str, Sequence[str]]]:
    used = [f"{kind} {us_text(value)}" for kind, value in case.cpu_us_per_message if value is not None]
    pairs: list[tuple[str, Sequence[str]]] = [
        ("CPU/message", used),
        ("bottleneck", [limit_text(case.bottleneck.limit, case.bottleneck.cause)]),
    ]
    if len(hosts := hosts_of(case)) > 1:
        pairs.append(("hosts", [f"{host}: {', '.join(agents)}" for host, agents in hosts.items()]))
    if any(clock.readings for clock in case.clocks):
        pairs.append(("clocks", clock_words(case)))
    return pairs


def _details(case: Case, most_rows: int) -> list[Block]:
    brief = (
        *(Column(COUNT_NAMES[name], Unit.COUNT) for name in _BRIEF_COUNTS),
        *(Column(f"{name} ms", Unit.MS) for name in _BRIEF_LATENCIES),
        Column("sent/s", Unit.PER_S),
        Column("received/s", Unit.PER_S),
        Column("KiB/s", Unit.NUMBER),
        Column("msg/s", Unit.PER_S),
    )
    topics = [row(part.topic, *_brief(part)) for part in case.topics]
    partitions = [row(_partition_name(part), *_brief(part)) for part in case.partitions]
    clocks = [
        row(clock.agent, clock.hostname, clock.offset_ms, clock.error_ms, clock.drift_ppm)
        for clock in case.clocks
    ]
    of_clocks = (
        Column("agent"),
        Column("host"),
        Column("offset ms", Unit.MS),
        Column("error ms", Unit.MS),
        Column("drift, µs a second", Unit.NUMBER),
    )
    settings = [row(name, value_text(value)) for name, value in case.parameters.model_dump().items()]
    return [
        _fold("Per topic", (Column("topic"), *brief), topics, most_rows),
        _fold("Per partition", (Column("topic / partition"), *brief), partitions, most_rows),
        _fold("Clocks, ms added to the agents' times", of_clocks, clocks, most_rows),
        _fold("Parameters in force", (Column("parameter"), Column("value")), settings, len(settings)),
    ]


def _fold(title: str, columns: Sequence[Column], rows: Sequence[TableRow], most: int) -> Table:
    left_out = len(rows) - most
    note = f"{count_text(left_out)} more rows are in the CSV files." if left_out > 0 else None
    return Table(title, columns, rows[:most], note, is_folded=True, where=ON_PAGE)


def _partition_name(part: Partition) -> str:
    number = NOTHING if part.partition is None else part.partition
    return f"{part.topic or NOTHING} / {number}"


def _brief(part: Topic | Partition) -> list[Cell | float | int | None]:
    legs = part.latency_ms
    latency = legs.intended_to_received if legs.intended_to_received.count else legs.sent_to_acked
    return [
        *(getattr(part.accounting, name) for name in _BRIEF_COUNTS),
        *(percentile_cell(latency, name) for name in _BRIEF_LATENCIES),
        part.throughput.sent_messages_per_s,
        part.throughput.received_messages_per_s,
        part.delivery.kib_per_s,
        part.delivery.messages_per_s,
    ]
