"""Tables `points` and `causes` of a fan-out: what is to be said of each number of clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamgauge.analysis.bottleneck import PROCESS_BUSY_CORES
from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.analysis.validity import Judged, validity
from streamgauge.analysis.verdicts import missed_rate
from streamgauge.core.steady_state import MACHINE_BUSY_SHARE
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, Limit, cause, worst_integrity

Row = dict[str, Any]

_FAULTS = {
    "missing": (CauseCode.MISSING, Integrity.LOST),
    "unexpected": (CauseCode.UNEXPECTED, Integrity.UNEXPECTED),
    "duplicate": (CauseCode.DUPLICATE, Integrity.DUPLICATE),
}


def judged_points(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of table `points` and of table `causes`."""
    judged: list[Row] = []
    causes: list[Row] = []
    for row in rows:
        found = [_FAULTS[name] for name in _FAULTS if row[name]]
        is_measured = row["expected"] > 0
        accounted = worst_integrity(verdict for _, verdict in found) if found else Integrity.OK
        quotable, doubts = validity(_judged(row))
        judged.append(
            row
            | {
                "holds": _holds(row),
                "integrity": accounted.value if is_measured else Integrity.NOT_MEASURED.value,
                "validity": quotable.value,
            }
        )
        faults = [cause(code, message_count=row[name]) for name, (code, _) in _FAULTS.items() if row[name]]
        said = {"integrity": faults, "validity": doubts, "note": _notes(row)}
        for verdict, reasons in said.items():
            causes += cause_rows(row["case"], verdict, reasons)
    return judged, causes


def _holds(row: Row) -> bool | None:
    """From the figures that are shown: a point that was told to hold while it ran, by counts, may lack what
    only names tell. One that was told not to hold does not, whatever the figures of what came are."""
    if row["holds"] is False or row["status"] != "ok" or not row["samples"]:
        return row["holds"]  # type: ignore[no-any-return]
    return not row["missing"] and bool(row["mean_ms"] <= row["mean_limit_ms"])


def _judged(row: Row) -> Judged:
    return Judged(
        # Messages, as they were planned; of those of which no update was timed nothing was measured.
        measured_count=row["measured_messages"] if row["samples"] else 0,
        planned_count=row["planned_messages"],
        ended_well=row["status"] == "ok",
        wanted_per_s=row["wanted_per_s"],
        sent_per_s=row["sent_messages_per_s"],
        missed_rate=missed_rate(row, row["wanted_per_s"]),
        latency_count=row["samples"],
        p50_ms=row["p50_ms"],
        p99_ms=row["p99_ms"],
        lag_p99_ms=row["lag_p99_ms"],
        noise_floor_p99_ms=row["noise_floor_ms"],
        rested=row["rested"],
        fault_count=row["fault_count"],
        failed_fault_count=row["failed_fault_count"],
        medians_ms=row["medians_ms"],
        slots_ms=row["slots_ms"],
        limit=_limit(row),
        machine_share=row["machine_share"],
        busiest_client_cores=row["busiest_client_cores"],
        clock_error_ms=row["clock_error_ms"],
        below_zero_count=int(row["min_ms"] is not None and row["min_ms"] < 0),
        hosts=row["hosts"],
        swapped_bytes=row["swapped_bytes"],
        throttled_count=row["throttled_count"],
    )


def _limit(row: Row) -> Limit | None:
    """Of those that make figures be of something else than the system."""
    if row["busiest_client_cores"] is not None and row["busiest_client_cores"] > PROCESS_BUSY_CORES:
        return Limit.CLIENT_CPU
    is_busy = row["machine_share"] is not None and row["machine_share"] > MACHINE_BUSY_SHARE
    return Limit.MACHINE_CPU if is_busy else None


def _notes(row: Row) -> Iterator[Cause]:
    if row["status_reason"]:
        code = CauseCode.SKIPPED if row["is_skipped"] else CauseCode.RECORDED
        yield cause(code, row["status_reason"])
