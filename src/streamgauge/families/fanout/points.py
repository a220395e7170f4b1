"""Table `points`: latency, accounting, traffic and use of every case of a fan-out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from streamgauge.analysis.case_figures import clock_error_ms, host_troubles, whole_seconds
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.families.fanout.accounts import accounts
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.result_tables import POINTS
from streamgauge.families.fanout.sending import planned_messages, sending_of
from streamgauge.families.fanout.update_figures import UpdateFigures
from streamgauge.families.fanout.usage import usage, wire
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import Plan

Row = dict[str, Any]

_COUNTS = (
    "messages",
    "expected",
    "received",
    "missing",
    "duplicate",
    "unexpected",
    "samples",
    "without_any",
    "measured_clients",
    "measured_messages",
)
_JUDGED = (
    "lag_p99_ms",
    "sent_messages_per_s",
    "sent_range_s",
    "intended_range_s",
    "machine_share",
    "busiest_client_cores",
    "swapped_bytes",
    "throttled_count",
)
"""Figures that only verdicts look at."""
_UNKNOWN: Row = dict.fromkeys([*POINTS.column_names, *_JUDGED])


def points(
    plan: Plan,
    status: RunStatus,
    figures: UpdateFigures,
    *,
    clients: pa.Table,
    sent: pa.Table,
    traffic: pa.Table,
    usage_samples: pa.Table,
    clocks: pa.Table,
    noise_floors_ms: Mapping[str, float],
) -> list[Row]:
    """One row a case, also of those that did not run; not judged yet. Tables are of events, on the reference
    clock, but for `clocks`, which is as analysis/clocks makes it."""
    sending, counted = sending_of(sent), _by_case(accounts(clients, figures))
    received = {case: row["received"] for case, row in counted.items()}
    wanted = {case.id: as_work(case.work, FanoutPoint).clients for case in plan.cases}
    parts = (
        _by_case(figures.latency.to_pylist()),
        {case: {**row, "clients": wanted[case]} for case, row in counted.items() if case in wanted},
        sending,
        wire(traffic.to_pylist(), received, wanted),
        usage(usage_samples, sending),
    )
    planned, medians = planned_messages(plan), _medians_ms(figures.measured_seconds)
    read: dict[str, list[Row]] = defaultdict(list)
    for row in clocks.to_pylist():
        read[row["case"]].append(row)
    found = []
    for case in plan.cases:
        row = dict(_UNKNOWN)
        for part in (*parts, {case.id: _planned_row(case, status.cases.get(case.id))}):
            row |= part.get(case.id, {})
        row |= {name: row.get(name) or 0 for name in _COUNTS}
        row["planned_messages"], row["medians_ms"] = planned[case.id], medians[case.id]
        row["clock_error_ms"] = clock_error_ms(read[case.id], "swarm")
        row["hosts"], row["noise_floor_ms"] = host_troubles(read[case.id]), noise_floors_ms.get(case.id)
        found.append(_without_conflated(row))
    return found


def _planned_row(case: Case, ended: CaseStatus | None) -> Row:
    point = as_work(case.work, FanoutPoint)
    was_run = ended is not None and not ended.is_skipped
    return {
        "case": case.id,
        "series": point.series,
        "via": point.via,
        "scenario": point.scenario,
        "clients": point.clients,
        "status": ended.status if ended is not None and was_run else "not run",
        "holds": ended.holds if ended is not None else None,
        "is_skipped": ended is not None and ended.is_skipped,
        "status_reason": ended.reason if ended is not None else None,
        "mean_limit_ms": 1000 * point.fanout.mean_limit,
        "is_conflated": point.is_conflated,
        "wanted_per_s": point.rate_per_s,
        "fault_count": sum(1 for fault in case.faults if fault.began_ns is not None),
        "failed_fault_count": sum(1 for fault in case.faults if not fault.went_as_planned),
        "rested": None if case.warm_up is None else case.warm_up.rested,
        "slots_ms": [] if case.warm_up is None else case.warm_up.measured_slots_ms,
    }


def _medians_ms(seconds: pa.Table) -> Mapping[str, list[float]]:
    """Of a case's whole seconds, in their order."""
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in seconds.sort_by([("case", "ascending"), ("second", "ascending")]).to_pylist():
        by_case[row["case"]].append(row)
    found = {case: [row["p50"] for row in whole_seconds(rows)] for case, rows in by_case.items()}
    return defaultdict(list, found)


def _without_conflated(row: Row) -> Row:
    """As `left_out` of a swarm: what conflation leaves out is not missing, but it never leaves out all."""
    without_any, missing = row.pop("without_any"), row["missing"]
    if not row["is_conflated"]:
        return row | {"conflated": 0}
    return row | {"conflated": missing - without_any, "missing": without_any}


def _by_case(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["case"]: row for row in rows}
