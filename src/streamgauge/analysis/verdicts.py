"""Tables `verdicts` and `causes`: is every message of a case accounted for, may its figures be quoted, and
what was its limit.

The rules are plain code over the figures of each case. A case that lost,
damaged or failed to deliver a message has failed. A case whose figures may not be quoted is still a
measurement, but it is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamgauge.analysis.bottleneck import SCHEDULE_LAG_MS, Pressure, bottleneck
from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.analysis.integrity import FATAL, integrity
from streamgauge.analysis.validity import Judged, validity
from streamgauge.core.findings import CaseVerification
from streamgauge.core.verdicts import Cause, CauseCode, Limit, cause

Row = dict[str, Any]

_NOT_VERIFIED: Mapping[str, CaseVerification] = {}

RATE_HELD = 0.99
"""Share of the wanted rate below which a case has missed it."""


def verdicts(
    figures: Iterable[Row], verified: Mapping[str, CaseVerification] = _NOT_VERIFIED
) -> tuple[list[Row], list[Row]]:
    """Rows of table `verdicts` and of table `causes`; `verified` by case."""
    judged: list[Row] = []
    causes: list[Row] = []
    for row in figures:
        has = {"has_consumers": row["consumers"] > 0, "has_completions": row["has_completions"]}
        accounted, faults = integrity(row, verified=verified.get(row["case"]), **has)
        wanted_per_s = _wanted_per_s(row)
        missed = missed_rate(row, wanted_per_s)
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
                "noise_floor_p99_ms": row["noise_floor_ms"],
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
    known = {name: row[name] for name in same}
    if not row["has_acks"]:
        known["ack_ms"] = None
    return Pressure(measured_count=row["measured"], missed_rate=missed_rate, **known)


def _judged(row: Row, missed_rate: bool, wanted_per_s: float | None, limit: Limit) -> Judged:
    leg = "received" if row["consumers"] else "acked"
    cores = [row[name] for name in ("producer_cores", "consumer_cores") if row[name] is not None]
    return Judged(
        measured_count=row["measured"],
        planned_count=row["planned_messages"],
        ended_well=row["status"] == "ok",
        is_paced=row["is_paced"],
        measures_itself=row["measures_itself"],
        wanted_per_s=wanted_per_s,
        sent_per_s=row["sent_messages_per_s"],
        missed_rate=missed_rate,
        latency_count=row[f"{leg}_count"],
        p50_ms=row[f"{leg}_p50_ms"],
        p99_ms=row[f"{leg}_p99_ms"],
        lag_p99_ms=row["lag_ms"],
        noise_floor_p99_ms=row["noise_floor_ms"],
        rested=row["rested"],
        fault_count=row["fault_count"],
        failed_fault_count=row["failed_fault_count"],
        medians_ms=row[f"{leg}_medians_ms"],
        slots_ms=row["slots_ms"],
        rates_per_s=_rates_per_s(row),
        drift_ms_per_s=row["drift_ms_per_s"],
        limit=limit,
        machine_share=row["machine_share"],
        busiest_client_cores=max(cores, default=None),
        clock_error_ms=row["clock_error_ms"] if row["consumers"] else None,
        below_zero_count=row["negative"],
        hosts=row["hosts"],
        swapped_bytes=row["swapped_bytes"],
        throttled_count=row["throttled_count"],
    )


def _rates_per_s(row: Row) -> list[float]:
    """Of what comes out, as far as anybody was told of it."""
    events = ("received", "acked", "sent") if row["consumers"] else ("acked", "sent")
    return next((rates for event in events if (rates := row[f"{event}_rates_per_s"])), [])


def _wanted_per_s(row: Row) -> float | None:
    """Steps have no one rate: theirs is that of the intended times."""
    if not row["is_paced"]:
        return None
    if row["constant_rate_per_s"] is not None:
        return float(row["constant_rate_per_s"])
    return (row["measured"] - 1) / row["intended_range_s"] if row["intended_range_s"] else None


def missed_rate(row: Row, wanted_per_s: float | None) -> bool:
    """In a short run a few ms at the ends are more than 1%: the schedule must have slipped as well. `row` has
    `sent_messages_per_s`, `sent_range_s` and `intended_range_s`."""
    if wanted_per_s is None or row["sent_messages_per_s"] is None or row["sent_range_s"] is None:
        return False
    slipped_ms = (row["sent_range_s"] - (row["intended_range_s"] or 0.0)) * 1000
    return bool(row["sent_messages_per_s"] < RATE_HELD * wanted_per_s and slipped_ms > SCHEDULE_LAG_MS)


def _notes(row: Row) -> Iterator[Cause]:
    if row["measures_itself"]:
        yield cause(CauseCode.MEASURES_ITSELF)
    if row["status_reason"]:
        yield cause(CauseCode.RECORDED, row["status_reason"])
    unacked = row["sent"] - row["acked"] - row["failed"] - row["aborted"]
    if row["has_completions"] and unacked > 0:
        yield cause(CauseCode.UNACKED, message_count=unacked)
    if row["created"]:
        yield cause(CauseCode.BROKER_TIME_IS_CREATE_TIME)
    if row["sent"] and not row["has_acks"]:
        yield cause(CauseCode.NO_ACKS)
    elif row["sent"] and not row["has_completions"]:
        yield cause(CauseCode.NO_DELIVERY_REPORTS)
    if row["sent"] and not row["consumers"]:
        yield cause(CauseCode.NO_CONSUMERS)
    if row["sample_ratio"] is not None:
        yield cause(
            CauseCode.COMPRESSED,
            row["compression"],
            sample_ratio=round(row["sample_ratio"], 2),
            asked_ratio=row["asked_ratio"] or None,
        )
    for note in row["notes"]:
        yield cause(CauseCode.PLANNED, note)
