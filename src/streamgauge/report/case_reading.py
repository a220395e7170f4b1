"""The figures of cases, out of the result tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from streamgauge.core.status import RunStatus
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, Validity, cause
from streamgauge.plan.cases import Case as PlannedCase
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.warm_up_file import WarmUp
from streamgauge.report.case_document import (
    SCHEDULE_LAG,
    Accounting,
    BriefStatistics,
    Case,
    Clock,
    Cpu,
    Delivery,
    Ranges,
    Statistics,
    Throughput,
)
from streamgauge.report.case_outcomes import case_outcomes
from streamgauge.report.document import (
    IntegrityVerdict,
    Part,
    State,
    ValidityVerdict,
    causes_of,
    strict,
)
from streamgauge.report.parameters import effective_parameters
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.tables.faults import NO_ACKS
from streamgauge.tables.results import (
    ACCOUNTING,
    CASE,
    CLOCKS,
    CPU,
    LATENCY,
    LEGS,
    MEASURE,
    PARTITION,
    RANGES,
    RUNTIMES,
    SECOND,
    THROUGHPUT,
    TOPIC,
    VERDICTS,
    WARM_UP,
)

_SCOPE_FIELDS = {TOPIC: ("topic",), PARTITION: ("topic", "partition"), SECOND: ("second",)}
_SCOPED_TABLES = (ACCOUNTING, LATENCY, RANGES, THROUGHPUT, RUNTIMES)


def cases_of(
    plan: Plan,
    status: RunStatus,
    tables: ResultTables,
    *,
    beside: str | None = None,
    by_figures_alone: bool = False,
) -> list[Case]:
    """`beside`: a target that the others are held against, which has no objectives of its own;
    `by_figures_alone`: as `outcomes_of` has it."""
    found = [case_of(case, status, tables) for case in plan.cases]
    for case in found:
        asked = () if case.target == beside else plan.objectives
        case.objectives = case_outcomes(case, asked, tables, by_figures_alone=by_figures_alone)
    return found


def case_of(case: PlannedCase, status: RunStatus, tables: ResultTables) -> Case:
    whole = _rows_by_table(tables, case, CASE)
    verdict = next(iter(tables.rows(VERDICTS, case.id)), None)
    cpu = {row["kind"]: row["cpu_us_per_message"] for row in tables.rows(CPU, case.id)}
    latency = _latency(whole[LATENCY.name], tuple(Statistics.model_fields))
    clocks = tables.rows(CLOCKS, case.id)
    content = {
        "case": case.id,
        "iteration": case.iteration,
        "target": case.target.name,
        "driver": case.target.driver,
        "parameters": effective_parameters(case),
        "accounting": _counts(whole[ACCOUNTING.name], MEASURE),
        "warm_up": _warm_up(whole[ACCOUNTING.name]),
        "warm_up_course": None if case.warm_up is None else course_of(case.warm_up),
        "schedule_lag_ms": latency.pop(SCHEDULE_LAG),
        "latency_ms": latency,
        "range_s": {name: _first(whole[RANGES.name], f"{name}_s") for name in Ranges.model_fields},
        "throughput": _fields(Throughput, whole[THROUGHPUT.name]),
        "delivery": _fields(Delivery, whole[RUNTIMES.name]),
        "cpu_us_per_message": {kind: cpu.get(kind) for kind in Cpu.model_fields},
        "bottleneck": _bottleneck(tables, case.id, verdict),
        "drift_ms_per_s": verdict["drift_ms_per_s"] if verdict else None,
        "noise_floor_p99_ms": verdict["noise_floor_p99_ms"] if verdict else None,
        "clocks": [{name: row[name] for name in Clock.model_fields} for row in clocks],
        "faults": tables.faults.get(case.id, []),
        "verification": tables.verified.get(case.id),
        "topics": _scopes(tables, case, TOPIC),
        "partitions": _scopes(tables, case, PARTITION),
        "seconds": _scopes(tables, case, SECOND),
    }
    return Case.model_validate(strict(content) | verdicts_of(case.id, status, tables, verdict))


def verdicts_of(case_id: str, status: RunStatus, tables: ResultTables, verdict: Row | None) -> dict[str, Any]:
    """Analysis judged; but the run itself may know of a failure that no figure shows."""
    begun = status.cases.get(case_id)
    notes = causes_of(tables, case_id, "note")
    if begun is not None and begun.reason and begun.reason not in [note.text for note in notes]:
        notes.append(cause(CauseCode.RECORDED, begun.reason))
    if verdict is None:
        return {"status": begun.status if begun else State.NOT_RUN, "notes": notes}
    state = State(verdict["status"])
    doubts = causes_of(tables, case_id, "validity")
    quotable = Validity(verdict["validity"])
    if state is State.OK and begun is not None and begun.status in (State.FAILED, State.PARTIAL):
        state = State(begun.status)
        if quotable is Validity.VALID:
            quotable, doubts = Validity.INVALID, [cause(CauseCode.INCOMPLETE)]
    return {
        "status": state,
        "integrity": IntegrityVerdict(
            verdict=Integrity(verdict["integrity"]), causes=causes_of(tables, case_id, "integrity")
        ),
        "validity": ValidityVerdict(verdict=quotable, causes=doubts),
        "notes": notes,
    }


def _bottleneck(tables: ResultTables, case_id: str, verdict: Row | None) -> dict[str, Any]:
    found: list[Cause] = causes_of(tables, case_id, "bottleneck")
    limit = verdict["bottleneck"] if verdict else None
    return {"limit": limit, "cause": found[0].model_dump() if found else None}


def _rows_by_table(tables: ResultTables, case: PlannedCase, scope: str) -> dict[str, list[Row]]:
    found = {table.name: tables.rows(table, case.id, scope=scope) for table in _SCOPED_TABLES}
    return found if case.load.acks != NO_ACKS else {name: _unclaimed(rows) for name, rows in found.items()}


def _unclaimed(rows: list[Row]) -> list[Row]:
    """Without acks: a client's word that it has written a message to a socket is no acknowledgement."""
    kept = [row for row in rows if row.get("leg") != "sent_to_acked"]
    nothing = {"acked": 0, "acked_s": None, "acked_messages_per_s": None, "acked_bytes_per_s": None}
    return [row | {name: value for name, value in nothing.items() if name in row} for row in kept]


def _scopes(tables: ResultTables, case: PlannedCase, scope: str) -> list[dict[str, Any]]:
    """One short entry a topic, a partition or a second, in order."""
    fields = _SCOPE_FIELDS[scope]
    places: dict[tuple[Any, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for table, rows in _rows_by_table(tables, case, scope).items():
        for row in rows:
            places[tuple(row[field] for field in fields)][table].append(row)
    # A partition is null for messages that were neither acked nor received: these come last.
    order = sorted(places, key=lambda place: [(part is None, part) for part in place])
    entries = [dict(zip(fields, place, strict=True)) | _brief(places[place]) for place in order]
    if scope != SECOND:
        for entry, place in zip(entries, order, strict=True):
            entry["delivery"] = _fields(Delivery, places[place][RUNTIMES.name])
    return entries


def _brief(rows: dict[str, list[Row]]) -> dict[str, Any]:
    latency = _latency(rows[LATENCY.name], tuple(BriefStatistics.model_fields))
    return {
        "accounting": _counts(rows[ACCOUNTING.name], MEASURE),
        "warm_up": _warm_up(rows[ACCOUNTING.name]),
        "schedule_lag_ms": latency.pop(SCHEDULE_LAG),
        "latency_ms": latency,
        "throughput": _fields(Throughput, rows[THROUGHPUT.name]),
    }


def _counts(rows: Iterable[Row], phase: str) -> dict[str, int]:
    row = next((row for row in rows if row["phase"] == phase), None)
    return {name: (row[name] or 0) if row else 0 for name in Accounting.model_fields}


def _warm_up(rows: Iterable[Row]) -> dict[str, int] | None:
    counts = _counts(rows, WARM_UP)
    return counts if any(counts.values()) else None


def course_of(warm_up: WarmUp) -> dict[str, Any] | None:
    """Content of a `WarmUpCourse`."""
    levels = warm_up.levels
    if levels is None:
        return None
    waited = [
        {"since_s": each.slot * levels.slot_s, **each.model_dump(exclude={"slot"})} for each in warm_up.waited
    ]
    return {"ended": warm_up.ended, "end_s": warm_up.seconds, **levels.model_dump(), "waited": waited}


def _latency(rows: Iterable[Row], names: tuple[str, ...]) -> dict[str, Any]:
    by_leg = {row["leg"]: row for row in rows}
    return {leg: _statistics(by_leg.get(leg), names) for leg in LEGS}


def _statistics(row: Row | None, names: tuple[str, ...]) -> dict[str, Any]:
    if row is None or not row["count"]:
        return {name: 0 if name.endswith("count") else None for name in names}
    # Six decimals of a millisecond are one nanosecond: all the clock has.
    return {name: round(row[name], 6) if isinstance(row[name], float) else row[name] for name in names}


def _fields(model: type[Part], rows: list[Row]) -> dict[str, Any]:
    return {name: _first(rows, name) for name in model.model_fields}


def _first(rows: list[Row], name: str) -> Any:
    return rows[0][name] if rows else None
