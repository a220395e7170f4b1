"""What a run of `streamgauge transports` tells: a row for each transport and rate, the harness beside it."""

from __future__ import annotations

from typing import Any

from streamgauge.plan.plan_file import Plan

Document = dict[str, Any]

SHOWN_PERCENTILES = {"p25": "25th", "p50": "50th", "p90": "90th", "p99": "99th", "p99_9": "99.9th"}
"""Those of transport-bench's table."""
LEG = "intended_to_received"
_HELD = 0.99


def transports_part(plan: Plan, cases: list[Document], environment: Document) -> Document | None:
    """None of a run that does not measure its harness or has no orders on a schedule."""
    if plan.kind != "transports":
        return None
    of_plan: str | None = getattr(plan.section, "harness", None)
    of_harness = {_rung(case): case for case in cases if case["target"] == of_plan}
    rows = [
        _row(case, of_harness.get(_rung(case)))
        for case in cases
        if case["target"] != of_plan and is_paced(case)
    ]
    systems = environment.get("systems", {})
    names = list(dict.fromkeys(row["transport"] for row in rows))
    engines = sorted({case["parameters"]["engine"] for case in cases})
    about = [
        {
            "transport": name,
            "driver": next(case["driver"] for case in cases if case["target"] == name),
            "system": systems.get(name, {}).get("description"),
            "promises": _promises(systems.get(name, {}).get("capabilities")),
            "notes": list(systems.get(name, {}).get("notes", [])),
        }
        for name in names
    ]
    return {"engine": engines[0] if len(engines) == 1 else None, "transports": about, "rows": rows}


def is_paced(case: Document) -> bool:
    """At one constant rate."""
    return isinstance(case["parameters"]["rate"], (int, float))


def rate_name(per_s: float) -> str:
    """As transport-bench writes it: 1K, 25K."""
    return f"{per_s / 1000:g}K" if per_s >= 1000 else f"{per_s:g}"


def unlike(part: Document) -> str | None:
    """What must be said when transports with different promises stand in one report."""
    keep = [about["transport"] for about in part["transports"] if about["promises"].get("durable")]
    lose = [about["transport"] for about in part["transports"] if about["promises"].get("durable") is False]
    if not keep or not lose:
        return None
    kept, gone = ", ".join(keep), ", ".join(lose)
    return (
        f"Not alike: {kept} (durable) and {gone} (nothing is kept). "
        "Their latencies are the price of different promises."
    )


def promises_text(promises: Document) -> str:
    if not promises:
        return "its promises are not known"
    return " · ".join(
        [
            "durable log" if promises["durable"] else "in memory only",
            "ordered" if promises["ordered"] else "no order",
            "acknowledged by its server" if promises["acked"] else "no acknowledgement (fire and forget)",
        ]
    )


def _rung(case: Document) -> tuple[Any, int]:
    return case["parameters"]["rate"], case["iteration"]


def _row(case: Document, harness: Document | None) -> Document:
    latency, counts = case["latency_ms"][LEG], case["accounting"]
    sent_per_s = case["throughput"]["sent_messages_per_s"]
    rate = float(case["parameters"]["rate"])
    return {
        "case": case["case"],
        "transport": case["target"],
        "rate_per_s": rate,
        "status": case["status"],
        "reasons": case["reasons"],
        "messages": counts["sent"],
        "received": counts["received"],
        "lost": max(0, counts["sent"] - counts["failed"] - counts["received"]),
        "failed": counts["failed"],
        "duplicate": counts["duplicate"],
        "sent_per_s": sent_per_s,
        "held": None if sent_per_s is None else sent_per_s >= _HELD * rate,
        **{f"{name}_ms": latency[name] for name in (*SHOWN_PERCENTILES, "max", "mean")},
        "schedule_lag_p99_ms": case["schedule_lag_ms"]["p99"],
        "drift_ms_per_s": case["drift_ms_per_s"],
        **_harness(harness, rate),
    }


def _harness(harness: Document | None, rate: float) -> Document:
    """What everything but the transport costs at this rate."""
    latency = harness["latency_ms"][LEG] if harness else {}
    sent = harness["throughput"]["sent_messages_per_s"] if harness else None
    return {
        **{f"harness_{name}_ms": latency.get(name) for name in SHOWN_PERCENTILES},
        "harness_held": None if sent is None else sent >= _HELD * rate,
    }


def _promises(capabilities: Document | None) -> Document:
    names = ("durable", "ordered", "acked")
    return {} if capabilities is None else {name: bool(capabilities[name]) for name in names}
