"""Tables `verdicts` and `causes`: is every message of a case accounted for, may its figures be quoted, and
what was its limit.

Spark gathers the figures of every case; the rules are plain code over these few rows. A case that lost,
damaged or failed to deliver a message has failed. A case whose figures may not be quoted is still a
measurement, but it is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import DataFrame

from streamgauge.analysis.bottleneck import SCHEDULE_LAG_MS, Pressure, bottleneck
from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.analysis.cells import measured
from streamgauge.analysis.integrity import FATAL, integrity
from streamgauge.analysis.query import query
from streamgauge.analysis.validity import Judged, validity
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.verdicts import Cause, CauseCode, Limit, cause
from streamgauge.tables.results import ACCOUNTING, CASE, MEASURE, SECOND

Row = dict[str, Any]

RATE_HELD = 0.99
"""Share of the wanted rate below which a case has missed it."""

_DRIFT_DIGITS = 9
DRIFT_SECONDS = 3
"""Fewer points say nothing of a slope."""

_COUNTS = [column.name for column in ACCOUNTING.columns if column.kind == "int64"]


def case_figures(
    cases: DataFrame,
    cells: DataFrame,
    *,
    accounting: DataFrame,
    latency: DataFrame,
    throughput: DataFrame,
    cpu: DataFrame,
    resources: DataFrame,
    clocks: DataFrame,
) -> list[Row]:
    """One row: a case of the plan, whether it was run or not, with what the rules look at."""
    counts = ", ".join(f"coalesce({name}, 0) as {name}" for name in ["measured", *_COUNTS])
    text = f"""
    select c.*, {counts}, intended_range_s, sent_range_s, created, l.* except (`case`), r.* except (`case`),
        p.* except (`case`), h.* except (`case`), clock_error_ms, d.* except (`case`)
    from {{cases}} c
    left join ({_TOTALS}) t on t.`case` = c.`case`
    left join ({_MEASURED}) m on m.`case` = c.`case`
    left join ({_LATENCIES}) l on l.`case` = c.`case`
    left join ({_RATES}) r on r.`case` = c.`case`
    left join ({_CPU}) p on p.`case` = c.`case`
    left join ({_MACHINES}) h on h.`case` = c.`case`
    left join ({_CLOCK_ERRORS}) b on b.`case` = c.`case`
    left join ({_SECONDS}) d on d.`case` = c.`case`"""
    found = query(
        text,
        cases=cases,
        cells=cells,
        accounting=accounting,
        latency=latency,
        throughput=throughput,
        cpu=cpu,
        resources=resources,
        clocks=clocks,
    )
    rows: list[Row] = found.toArrow().to_pylist()
    return rows


def verdicts(figures: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of table `verdicts` and of table `causes`."""
    judged: list[Row] = []
    causes: list[Row] = []
    for row in figures:
        has = {"has_consumers": row["consumers"] > 0, "has_completions": row["has_completions"]}
        accounted, faults = integrity(row, **has)
        wanted_per_s = _wanted_per_s(row)
        missed = _missed_rate(row, wanted_per_s)
        limit, why = bottleneck(_pressure(row, missed))
        quotable, doubts = validity(_judged(row, missed, wanted_per_s, limit))
        judged.append(
            {
                "case": row["case"],
                "status": "failed" if accounted in FATAL else row["status"],
                "integrity": accounted.value,
                "validity": quotable.value,
                "bottleneck": limit.value,
                "drift_ms_per_s": row["drift_ms_per_s"],
            }
        )
        said = {"integrity": faults, "validity": doubts, "bottleneck": [why], "note": _notes(row)}
        for verdict, found in said.items():
            causes += cause_rows(row["case"], verdict, found)
    return judged, causes


def _pressure(row: Row, missed_rate: bool) -> Pressure:
    same = (
        "is_paced",
        "producers",
        "constant_rate_per_s",
        "lag_ms",
        "ack_ms",
        "sent_messages_per_s",
        "received_messages_per_s",
        "producer_cores",
        "consumer_cores",
        "broker_cores",
        "broker_host_cores",
        "machine_share",
    )
    return Pressure(
        measured_count=row["measured"], missed_rate=missed_rate, **{name: row[name] for name in same}
    )


def _judged(row: Row, missed_rate: bool, wanted_per_s: float | None, limit: Limit) -> Judged:
    leg = "received" if row["consumers"] else "acked"
    cores = [row[name] for name in ("producer_cores", "consumer_cores") if row[name] is not None]
    return Judged(
        measured_count=row["measured"],
        planned_count=row["planned_messages"],
        ended_well=row["status"] == "ok",
        is_paced=row["is_paced"],
        wanted_per_s=wanted_per_s,
        sent_per_s=row["sent_messages_per_s"],
        missed_rate=missed_rate,
        latency_count=row[f"{leg}_count"],
        p50_ms=row[f"{leg}_p50_ms"],
        p99_ms=row[f"{leg}_p99_ms"],
        lag_p99_ms=row["lag_ms"],
        medians_ms=[second["p50"] for second in row[f"{leg}_seconds"] or ()],
        drift_ms_per_s=row["drift_ms_per_s"],
        limit=limit,
        machine_share=row["machine_share"],
        busiest_client_cores=max(cores, default=None),
        clock_error_ms=row["clock_error_ms"] if row["consumers"] else None,
        below_zero_count=row["negative"],
        swapped_bytes=row["swapped_bytes"],
        throttled_count=row["throttled_count"],
    )


def _wanted_per_s(row: Row) -> float | None:
    """Steps have no one rate: theirs is that of the intended times."""
    if not row["is_paced"]:
        return None
    if row["constant_rate_per_s"] is not None:
        return float(row["constant_rate_per_s"])
    return (row["measured"] - 1) / row["intended_range_s"] if row["intended_range_s"] else None


def _missed_rate(row: Row, wanted_per_s: float | None) -> bool:
    """In a short run a few ms at the ends are more than 1%: the schedule must have slipped as well."""
    if wanted_per_s is None or row["sent_messages_per_s"] is None or row["sent_range_s"] is None:
        return False
    slipped_ms = (row["sent_range_s"] - (row["intended_range_s"] or 0.0)) * 1000
    return bool(row["sent_messages_per_s"] < RATE_HELD * wanted_per_s and slipped_ms > SCHEDULE_LAG_MS)


def _notes(row: Row) -> Iterator[Cause]:
    if row["status_reason"]:
        yield cause(CauseCode.RECORDED, row["status_reason"])
    unacked = row["sent"] - row["acked"] - row["failed"]
    if row["has_completions"] and unacked > 0:
        yield cause(CauseCode.UNACKED, message_count=unacked)
    if row["created"]:
        yield cause(CauseCode.BROKER_TIME_IS_CREATE_TIME)
    if row["sent"] and not row["has_completions"]:
        yield cause(CauseCode.NO_DELIVERY_REPORTS)
    if row["sent"] and not row["consumers"]:
        yield cause(CauseCode.NO_CONSUMERS)
    for note in (row["notes"] or "").splitlines():
        yield cause(CauseCode.PLANNED, note)


# One row: a case, with the counts of both phases together: warm-up must not lose messages either.
_TOTALS = f"""
    select `case`, sum(if(phase = '{MEASURE}', sent, 0)) as measured,
        {", ".join(f"sum({name}) as {name}" for name in _COUNTS)}
    from {{accounting}} where scope = '{CASE}' group by `case`"""

_MEASURED = f"""
    select `case`, (max(intended_last_ns) - min(intended_first_ns)) / {NS_PER_S} as intended_range_s,
        (max(sent_last_ns) - min(sent_first_ns)) / {NS_PER_S} as sent_range_s,
        sum(created_count) as created
    from {measured("{cells}")} group by `case`"""


def _of_leg(leg: str, name: str) -> str:
    return ", ".join(
        f"max(if(leg = '{leg}', {figure}, null)) as {name}_{label}"
        for figure, label in (("count", "count"), ("p50", "p50_ms"), ("p99", "p99_ms"))
    )


# Output times are whole ms, cut off: their legs are below zero with the best of clocks.
_LATENCIES = f"""
    select `case`, max(if(leg = 'intended_to_sent', p99, null)) as lag_ms,
        max(if(leg = 'sent_to_acked', p50, null)) as ack_ms,
        sum(if(not contains(leg, 'output'), negative_count, null)) as negative,
        {_of_leg("intended_to_received", "received")}, {_of_leg("sent_to_acked", "acked")}
    from {{latency}} where scope = '{CASE}' group by `case`"""

_RATES = f"""
    select `case`, sent_messages_per_s, received_messages_per_s from {{throughput}} where scope = '{CASE}'"""

_CPU = f"""
    select `case`, {
    ", ".join(
        f"max(if(kind = '{kind}', busiest_cores, null)) as {kind}_cores"
        for kind in ("producer", "consumer", "broker")
    )
}
    from {{cpu}} group by `case`"""

# While messages were sent: the busiest machine, the cores of the brokers' hosts, what machines swapped.
_MACHINES = f"""
    select `case`, max(share) as machine_share, max(cores) as broker_host_cores,
        sum(swapped_bytes) as swapped_bytes, sum(throttled_count) as throttled_count
    from (
        select u.`case`, host, avg(if(kind = 'machine', cpu_cores / cores, null)) as share,
            max(if(kind = 'broker', cores, null)) as cores,
            sum(swapped_bytes_per_s) as swapped_bytes, sum(throttled_per_s) as throttled_count
        from {{resources}} u
        join (
            select `case`, min(second) as first_s, max(second) as last_s
            from {{throughput}} where scope = '{SECOND}' and sent_messages_per_s > 0 group by `case`) w
        on w.`case` = u.`case` and at_s between first_s and last_s + 1
        group by u.`case`, host)
    group by `case`"""

# One row: a case, with how far a producer's and a consumer's clock can be apart.
_CLOCK_ERRORS = """
    select `case`, max(if(startswith(agent, 'producer'), error_ms, null))
        + max(if(startswith(agent, 'consumer'), error_ms, null)) as clock_error_ms
    from {clocks} group by `case`"""

# One row: a case, with the medians of its seconds in order, and their slope.
# Rounded: Spark adds up in any order, and the last digits of a sum depend on it.
_SECONDS = f"""
    select `case`, {
    ", ".join(
        f"sort_array(collect_list(if(leg = '{leg}', struct(second, p50), null))) as {name}_seconds"
        for leg, name in (("intended_to_received", "received"), ("sent_to_acked", "acked"))
    )
},
        if(count(if(leg = 'intended_to_received', 1, null)) >= {DRIFT_SECONDS}, round(regr_slope(
            if(leg = 'intended_to_received', p50, null), cast(second as double)), {_DRIFT_DIGITS}), null)
            as drift_ms_per_s
    from {{latency}} where scope = '{SECOND}' group by `case`"""
