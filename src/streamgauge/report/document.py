"""results.json: all figures of a run in one document, as results.schema.json describes it."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from importlib import resources
from typing import Any

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import RunStatus, read_status
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import read_plan
from streamgauge.plan.search_file import read_search
from streamgauge.report.comparison_document import comparison_parts
from streamgauge.report.fanout_document import fanout_parts
from streamgauge.report.limit_document import limit_part
from streamgauge.report.parameters import effective_parameters
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.transport_rows import transports_part
from streamgauge.tables.results import (
    ACCOUNTING,
    CASE,
    CLOCKS,
    CPU,
    LATENCY,
    LEGS,
    MEASURE,
    PARTITION,
    PERCENTILES,
    RANGES,
    RUNTIMES,
    SECOND,
    THROUGHPUT,
    TOPIC,
    VERDICTS,
    WARM_UP,
)

Document = dict[str, Any]

SCHEDULE_LAG = "intended_to_sent"
LATENCY_LEGS = tuple(leg for leg in LEGS if leg != SCHEDULE_LAG)
SCOPE = ("case", "scope", "topic", "partition", "second")
COUNTS = tuple(name for name in ACCOUNTING.column_names if name not in (*SCOPE, "phase"))
STATISTICS = ("count", "mean", "sd", "min", *PERCENTILES, "max", "negative_count")
BRIEF_STATISTICS = ("count", "p50", "p99", "max")
RANGE_NAMES = ("sent", "published", "output", "consumed")
THROUGHPUT_NAMES = tuple(name for name in THROUGHPUT.column_names if name not in SCOPE)
DELIVERY_NAMES = tuple(name for name in RUNTIMES.column_names if name not in SCOPE)
CPU_KINDS = ("producer", "consumer", "broker")

NOT_RUN = "not run"

_SCOPE_FIELDS = {TOPIC: ("topic",), PARTITION: ("topic", "partition"), SECOND: ("second",)}
_SCOPED_TABLES = (ACCOUNTING, LATENCY, RANGES, THROUGHPUT, RUNTIMES)


def results_document(run: RunDir, tables: ResultTables | None = None) -> Document:
    """The figures of every case of the plan, also of those that never ran."""
    plan, status = read_plan(run), read_status(run)
    tables = tables or ResultTables.read(run)
    environment = run.read_json(run.environment) if run.has(run.environment) else {}
    if plan.kind == "compare":
        compared = comparison_parts(plan.cases[0], status, tables)
        head = {"run": plan.run, "name": plan.name, "environment": environment}
        head |= {"limit": None, "transports": None}
        return {key: _strict(value) for key, value in (head | compared).items()}
    if plan.kind == "fanout":
        head = {"run": plan.run, "name": plan.name, "environment": environment}
        head |= {"limit": None, "transports": None}
        return {key: _strict(value) for key, value in (head | fanout_parts(plan, status, tables)).items()}
    cases = [_case(case, status, tables) for case in plan.cases]
    # Cases of a search beyond the limit are there to break.
    whole = cases if plan.kind != "limit" else []
    run_status, reason = _run_status(status, whole)
    document = {
        "run": plan.run,
        "name": plan.name,
        "status": run_status,
        "reason": reason,
        "environment": environment,
        "cases": cases,
        "transports": transports_part(plan, cases, environment),
        "comparison": None,
        "comparisons": [],
        "limit": limit_part(plan, read_search(run), cases),
    }
    return {key: _strict(value) for key, value in document.items()}


def document_text(document: Document) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def results_schema() -> dict[str, Any]:
    """The JSON Schema that every document keeps to."""
    text = resources.files("streamgauge.report").joinpath("results.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _run_status(status: RunStatus, cases: list[Document]) -> tuple[str, str | None]:
    """A run that came to its end well is only as good as its worst case."""
    if status.status != "ok":
        return status.status, status.reason
    for verdict in ("failed", "partial"):
        bad = [case["case"] for case in cases if case["status"] == verdict]
        if bad:
            return verdict, f"{len(bad)} of {len(cases)} cases {verdict}: {', '.join(bad)}"
    return status.status, status.reason


def _case(case: Case, status: RunStatus, tables: ResultTables) -> Document:
    whole = _rows_by_table(tables, case.id, CASE)
    verdict = next(iter(tables.rows(VERDICTS, case.id)), None)
    case_status, reasons = _case_status(case.id, status, verdict)
    cpu = {row["kind"]: row["cpu_us_per_message"] for row in tables.rows(CPU, case.id)}
    clocks = tables.rows(CLOCKS, case.id)
    latency = _latency(whole[LATENCY.name], STATISTICS)
    return {
        "case": case.id,
        "iteration": case.iteration,
        "status": case_status,
        "reasons": reasons,
        "target": case.target.name,
        "driver": case.target.driver,
        "parameters": effective_parameters(case),
        "accounting": _counts(whole[ACCOUNTING.name], MEASURE),
        "warm_up": _warm_up(whole[ACCOUNTING.name]),
        "latency_ms": {leg: latency[leg] for leg in LATENCY_LEGS},
        "schedule_lag_ms": latency[SCHEDULE_LAG],
        "range_s": _ranges(whole[RANGES.name]),
        "throughput": _throughput(whole[THROUGHPUT.name]),
        "delivery": _delivery(whole[RUNTIMES.name]),
        "cpu_us_per_message": {kind: cpu.get(kind) for kind in CPU_KINDS},
        "bottleneck": {
            "limit": verdict["bottleneck"] if verdict else None,
            "reason": verdict["bottleneck_reason"] if verdict else None,
        },
        "drift_ms_per_s": verdict["drift_ms_per_s"] if verdict else None,
        "clocks": [{name: row[name] for name in CLOCKS.column_names if name != "case"} for row in clocks],
        "topics": _scopes(tables, case.id, TOPIC),
        "partitions": _scopes(tables, case.id, PARTITION),
        "seconds": _scopes(tables, case.id, SECOND),
    }


def _case_status(case_id: str, status: RunStatus, verdict: Row | None) -> tuple[str, list[str]]:
    """The verdict counts, unless it is `ok` and the run itself knows of a failure."""
    begun = status.cases.get(case_id)
    reasons = [line for line in verdict["reasons"].splitlines() if line.strip()] if verdict else []
    if begun is not None and begun.reason and begun.reason not in reasons:
        reasons.append(begun.reason)
    if verdict is None:
        return (begun.status if begun else NOT_RUN), reasons
    if verdict["status"] == "ok" and begun is not None and begun.status in ("failed", "partial"):
        return begun.status, reasons
    return str(verdict["status"]), reasons


def _rows_by_table(tables: ResultTables, case_id: str, scope: str) -> dict[str, list[Row]]:
    return {table.name: tables.rows(table, case_id, scope=scope) for table in _SCOPED_TABLES}


def _scopes(tables: ResultTables, case_id: str, scope: str) -> list[Document]:
    """One short entry a topic, a partition or a second, in order."""
    fields = _SCOPE_FIELDS[scope]
    places: dict[tuple[Any, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for table, rows in _rows_by_table(tables, case_id, scope).items():
        for row in rows:
            places[tuple(row[field] for field in fields)][table].append(row)
    # A partition is null for messages that were neither acked nor received: these come last.
    order = sorted(places, key=lambda place: [(part is None, part) for part in place])
    entries = [dict(zip(fields, place, strict=True)) | _brief(places[place]) for place in order]
    if scope != SECOND:
        for entry, place in zip(entries, order, strict=True):
            entry["delivery"] = _delivery(places[place][RUNTIMES.name])
    return entries


def _brief(rows: dict[str, list[Row]]) -> Document:
    latency = _latency(rows[LATENCY.name], BRIEF_STATISTICS)
    return {
        "accounting": _counts(rows[ACCOUNTING.name], MEASURE),
        "warm_up": _warm_up(rows[ACCOUNTING.name]),
        "latency_ms": {leg: latency[leg] for leg in LATENCY_LEGS},
        "schedule_lag_ms": latency[SCHEDULE_LAG],
        "throughput": _throughput(rows[THROUGHPUT.name]),
    }


def _counts(rows: Iterable[Row], phase: str) -> dict[str, int]:
    row = next((row for row in rows if row["phase"] == phase), None)
    return {name: (row[name] or 0) if row else 0 for name in COUNTS}


def _warm_up(rows: Iterable[Row]) -> dict[str, int] | None:
    counts = _counts(rows, WARM_UP)
    return counts if any(counts.values()) else None


def _latency(rows: Iterable[Row], names: tuple[str, ...]) -> dict[str, Document]:
    by_leg = {row["leg"]: row for row in rows}
    return {leg: _statistics(by_leg.get(leg), names) for leg in LEGS}


def _statistics(row: Row | None, names: tuple[str, ...]) -> Document:
    if row is None or not row["count"]:
        return {name: 0 if name.endswith("count") else None for name in names}
    # Six decimals of a millisecond are one nanosecond: all the clock has.
    return {name: round(row[name], 6) if isinstance(row[name], float) else row[name] for name in names}


def _ranges(rows: list[Row]) -> Document:
    return {name: rows[0][f"{name}_s"] if rows else None for name in RANGE_NAMES}


def _throughput(rows: list[Row]) -> Document:
    return {name: rows[0][name] if rows else None for name in THROUGHPUT_NAMES}


def _delivery(rows: list[Row]) -> Document:
    return {name: rows[0][name] if rows else None for name in DELIVERY_NAMES}


def _strict(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
