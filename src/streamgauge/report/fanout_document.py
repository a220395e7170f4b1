"""The part of results.json that a fan-out has instead of cases."""

from __future__ import annotations

from typing import Any

from streamgauge.core.status import RunStatus
from streamgauge.plan.cases import as_work
from streamgauge.plan.fanout_point import FanoutPoint
from streamgauge.plan.plan_file import Plan
from streamgauge.report.published_fanout import HARDWARE, SLIPS, published
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.spec.fanout import SCENARIOS
from streamgauge.tables.fanout_results import POINTS, ROLES
from streamgauge.tables.results import PERCENTILES

Document = dict[str, Any]

COUNTS = ("messages", "expected", "received", "missing", "duplicate", "unexpected")
LATENCIES = ("mean", "sd", "min", *PERCENTILES, "max")
WIRE = (
    "to_clients_bits_per_s",
    "from_clients_bits_per_s",
    "bytes_per_client",
    "bytes_per_update",
    "broker_sent_bits_per_s",
    "broker_received_bits_per_s",
)
_WHOLE = "3full"
"""The scenario whose updates are sent whole: what delta and patch are measured by."""


def fanout_parts(plan: Plan, status: RunStatus, tables: ResultTables) -> Document:
    """`status`, `reason`, `cases`, `comparison`, `comparisons` and `fanout`."""
    asked = as_work(plan.cases[0].work, FanoutPoint).fanout
    points = [_point(tables.rows(POINTS, case.id)[0]) for case in plan.cases]
    used = dict.fromkeys(point["scenario"] for point in points)
    return {
        "status": status.status,
        "reason": status.reason,
        "cases": [],
        "comparison": None,
        "comparisons": [],
        "fanout": {
            "duration_s": asked.duration,
            "warm_up_s": asked.warm_up,
            "mean_limit_s": asked.mean_limit,
            "size_bytes": asked.size,
            "max_frequency": asked.max_frequency,
            "scenarios": {name: SCENARIOS[name].meaning for name in used},
            "points": points,
            "savings": savings(points),
            "published": {"hardware": HARDWARE, "slips": list(SLIPS)},
        },
    }


def _point(row: Row) -> Document:
    beside = published(row["scenario"], row["via"], row["clients"])
    told = beside.mean_sd_ms
    return {
        "case": row["case"],
        "series": row["series"],
        "via": row["via"],
        "scenario": row["scenario"],
        "clients": row["clients"],
        "status": row["status"],
        "holds": row["holds"],
        "reasons": [line for line in row["reasons"].splitlines() if line],
        "rate_per_s": row["rate_per_s"],
        "measured_clients": row["measured_clients"],
        "accounting": {name: row[name] for name in COUNTS},
        "samples": row["samples"],
        "latency_ms": {name: row[f"{name}_ms"] for name in LATENCIES},
        "wire": {name: row[name] for name in WIRE},
        "use": {
            role: {"cpu_cores": row[f"{role}_cpu_cores"], "memory_bytes": row[f"{role}_memory_bytes"]}
            for role in ROLES
        },
        "published": {
            "mean_ms": told[0] if isinstance(told, tuple) else None,
            "sd_ms": told[1] if isinstance(told, tuple) else None,
            "holds": None if told is None else isinstance(told, tuple),
            "bits_per_s": beside.bits_per_s,
        },
    }


def savings(points: list[Document]) -> list[Document]:
    """What a client of a gateway receives, over what one of Kafka does, or one that gets everything whole.

    Bytes of one client do not depend on how many there are: a series' largest point that held stands for it.
    """
    found = []
    by_series: dict[tuple[str, str], Document] = {}
    for point in points:
        if point["holds"] and point["wire"]["bytes_per_client"]:
            by_series[point["via"], point["scenario"]] = point
    for (via, scenario), point in by_series.items():
        if via != "gateway":
            continue
        kind = SCENARIOS[scenario].kind  # type: ignore[index]
        for (other, theirs), base in by_series.items():
            same_messages = SCENARIOS[theirs].kind == kind  # type: ignore[index]
            if not same_messages or (other == "gateway" and (theirs != _WHOLE or scenario == _WHOLE)):
                continue
            mine_per_s, base_per_s = _per_client(point), _per_client(base)
            found.append(
                {
                    "scenario": scenario,
                    "against": base["series"] if other != "gateway" else "gateway, whole updates",
                    "bytes_per_client": mine_per_s,
                    "against_bytes_per_client": base_per_s,
                    "percent": 100 * mine_per_s / base_per_s,
                }
            )
    return found


def _per_client(point: Document) -> float:
    return float(point["wire"]["bytes_per_client"])
