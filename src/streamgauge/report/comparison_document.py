"""The parts of results.json that a run which compares has instead of cases."""

from __future__ import annotations

from typing import Any

from streamgauge.core.status import RunStatus
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.contest import Contest, Side
from streamgauge.report.comparison_notes import notes_of
from streamgauge.report.comparison_words import place_text
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.spec.target import Target
from streamgauge.tables.comparison_events import ENGINE
from streamgauge.tables.comparison_results import APPLIED_SETTINGS, COMPARISONS

Document = dict[str, Any]

LIBRARIES: tuple[Side, ...] = ("a", "b")
TIMES = ("count", "max_us", "min_us", "mean_us", "sd_us", "cv_percent", "median_us", "is_two_humped")
RATIOS = ("max", "min", "mean", "sd", "cv", "median")
ACCOUNTS = ("expected", "seen", "missing", "duplicate", "corrupt", "failed")

_NAMED = 5
"""Bad comparisons named in the reason; more are counted."""


def comparison_parts(case: Case, status: RunStatus, tables: ResultTables) -> Document:
    """`status`, `reason`, `cases`, `comparison` and `comparisons`."""
    contest = as_work(case.work, Contest)
    found = [_comparison(row) for row in tables.rows(COMPARISONS, case.id)]
    run_status, reason = _status(status, found)
    return {
        "status": run_status,
        "reason": reason,
        "cases": [],
        "comparison": _conditions(contest, found, tables.rows(APPLIED_SETTINGS, case.id)),
        "comparisons": sorted(found, key=_as_planned(contest)),
    }


def _as_planned(contest: Contest) -> Any:
    plan = contest.comparison
    temperatures = ("cold", "warm")

    def place(row: Document) -> tuple[int, ...]:
        return (
            plan.operations.index(row["operation"]),
            temperatures.index(row["temperature"]),
            plan.messages.index(row["messages"]),
            plan.lengths.index(row["length"]),
        )

    return place


def _status(status: RunStatus, found: list[Document]) -> tuple[str, str | None]:
    """A run that came to its end well is only as good as its worst comparison."""
    if status.status != "ok":
        return status.status, status.reason
    for bad in ("failed", "partial"):
        names = [place_text(row) for row in found if row["status"] == bad]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            return bad, f"{len(names)} of {len(found)} comparisons {bad}: {', '.join(names[:_NAMED])}{more}"
    return status.status, status.reason


def _comparison(row: Row) -> Document:
    return {
        "operation": row["operation"],
        "temperature": row["temperature"],
        "length": row["length"],
        "messages": row["messages"],
        "status": row["status"],
        "reasons": row["reasons"].splitlines(),
        "verdict": row["verdict"],
        "is_tainted": row["is_tainted"],
        "pairs": row["pairs"],
        "ratio_percent": {name: row[f"ratio_{name}_percent"] for name in RATIOS},
        "interval_percent": _interval(row, "interval"),
        "p": row["p"],
        "p_uncorrected": row["p_uncorrected"],
        "detectable_percent": row["detectable_percent"],
        "control": {
            "median_percent": row["control_ratio_median_percent"],
            "interval_percent": _interval(row, "control_interval"),
            "p": row["control_p"],
            "verdict": row["control_verdict"],
        },
        **{side: {name: row[f"{side}_{name}"] for name in TIMES} for side in LIBRARIES},
        **{
            name: {side: row[f"{side}_{name}"] for side in LIBRARIES}
            for name in ("cpu_us_per_message", "crossings_per_message", "jni_calls_per_message")
        },
        "accounting": {name: row[name] for name in ACCOUNTS},
        "warnings": row["warnings"].splitlines(),
    }


def _interval(row: Row, name: str) -> list[float] | None:
    low, high = row[f"{name}_low_percent"], row[f"{name}_high_percent"]
    return None if low is None else [low, high]


def _conditions(contest: Contest, found: list[Document], settings: list[Row]) -> Document:
    plan = contest.comparison
    told = {row["side"]: (row["value"], row["note"] or None) for row in settings if row["role"] == ENGINE}
    libraries: Document = {
        side: _library(contest.target_of(side), *told.get(side, (plan.engine, None))) for side in LIBRARIES
    }
    return {
        **libraries,
        "lengths": list(plan.lengths),
        "message_counts": list(plan.messages),
        "repeat": plan.repeat,
        "preset": plan.preset,
        "acks": plan.acks_in_force,
        "compression": plan.compression,
        "partitions": plan.topics.partitions,
        "replicas": plan.topics.replicas,
        "process": plan.process,
        "check_on_consume": plan.check_on_consume,
        "bursts": None
        if plan.bursts is None
        else {"length": plan.bursts.length, "interval_s": plan.bursts.interval},
        "warm_up_messages": plan.warm_up_messages,
        "equivalence_percent": plan.equivalence_percent,
        "settings": _settings(settings),
        "notes": notes_of(plan, found, mixed=libraries["a"]["engine"] != libraries["b"]["engine"]),
    }


def _library(target: Target, engine: str, version: str | None) -> Document:
    return {"name": target.name, "driver": target.driver, "engine": engine, "version": version}


def _settings(rows: list[Row]) -> list[Document]:
    """One entry for each setting and role, with both libraries side by side; shared ones first."""
    found: dict[tuple[bool, str, str], Document] = {}
    for row in sorted(rows, key=lambda row: (not row["is_shared"], row["role"] != "producer")):
        if row["role"] == ENGINE:
            continue
        key = (row["is_shared"], row["role"], row["name"])
        entry = found.setdefault(
            key,
            {"name": row["name"], "role": row["role"], "is_shared": row["is_shared"], "a": None, "b": None},
        )
        entry[row["side"]] = {name: row[name] for name in ("native", "value", "note")}
    return list(found.values())
