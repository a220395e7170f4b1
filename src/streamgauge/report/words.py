"""What the report calls things; the console and the page say the same."""

from __future__ import annotations

from typing import Any

from streamgauge.report.parameters import Parameters, knob_name, knob_text, swept_text
from streamgauge.report.quantities import NOTHING, count_text

LEG_NAMES = {
    "intended_to_received": "consumed − intended",
    "sent_to_received": "consumed − sent",
    "sent_to_acked": "published − sent",
    "sent_to_output": "output − sent",
    "output_to_received": "consumed − output",
    "intended_to_sent": "sent − intended",
}

STATISTIC_NAMES = {
    "count": "count",
    "mean": "mean",
    "sd": "SD",
    "min": "min",
    "p25": "p25",
    "p50": "p50",
    "p75": "p75",
    "p90": "p90",
    "p95": "p95",
    "p98": "p98",
    "p99": "p99",
    "p99_9": "p99.9",
    "max": "max",
    "negative_count": "below 0",
}

COUNT_NAMES = {
    "sent": "sent",
    "acked": "acked",
    "failed": "failed",
    "received": "received",
    "lost_write": "lost-write",
    "unseen": "unseen",
    "duplicate": "duplicate",
    "out_of_order": "out of order",
    "corrupt": "corrupt",
    "unexpected": "unexpected",
}

COUNT_MEANINGS = {
    "sent": "handed to the client library",
    "acked": "acknowledged without error",
    "failed": "reported as not delivered",
    "received": "at least one intact copy came",
    "lost_write": "acked, never seen, though a later offset of its partition was",
    "unseen": "acked, never seen, and nothing later in its partition was either",
    "duplicate": "intact copies beyond the first",
    "out_of_order": "first copy came after a later one of its producer and partition",
    "corrupt": "damaged records",
    "unexpected": "records that are not of this case",
}

FAULTS = ("failed", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected")
"""Counts that are zero when all is well."""

FAULTS_OF_ACKS = ("failed", "lost_write", "unseen")
"""Faults that only producers who hear of their messages can know of."""

FAULTS_OF_SENDING = ("failed",)
"""The only faults that can be seen without a consumer."""

_MOST_KNOBS = 5

LIMIT_NAMES = {
    "client_cpu": "client CPU",
    "generator": "load generator",
    "broker": "broker",
    "network": "network",
    "disk": "disk",
    "machine_cpu": "machine CPU",
    "none": "none found",
}


def case_title(case: dict[str, Any]) -> str:
    """What tells this case from the others."""
    parts = [str(case["target"]), swept_text(Parameters(**case["parameters"]))]
    if case["iteration"] > 1:
        parts.append(f"round {case['iteration']}")
    return " ".join(part for part in parts if part)


def knob_columns(cases: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """What tells cases apart: a column a swept field, by case; too many of them share one."""
    swept = dict.fromkeys(path for case in cases for path in case["parameters"]["swept"])
    if not swept or len(swept) > _MOST_KNOBS:
        return {"target": {case["case"]: case_title(case) for case in cases}}
    columns: dict[str, dict[str, str]] = {}
    if len({case["target"] for case in cases}) > 1:
        columns["target"] = {case["case"]: case["target"] for case in cases}
    for path in swept:
        values = {case["case"]: case["parameters"]["swept"].get(path) for case in cases}
        columns[knob_name(path)] = {
            case: NOTHING if value is None else knob_text(value) for case, value in values.items()
        }
    if any(case["iteration"] > 1 for case in cases):
        columns["round"] = {case["case"]: str(case["iteration"]) for case in cases}
    return columns


def rate_columns(cases: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """The rates that speak for cases, each with where it stands: those of streams side by side, or all."""
    if all(case["parameters"]["streams"] == "per_partition" for case in cases):
        return {"msg/s": ("delivery", "messages_per_s"), "KiB/s": ("delivery", "kib_per_s")}
    return {name: ("throughput", f"{name}_messages_per_s") for name in ("sent", "received")}


def faults_checked(case: dict[str, Any]) -> tuple[str, ...]:
    """Nothing is said of what nobody looked at: arrivals without consumers, acks without reports."""
    known = FAULTS if case["parameters"]["consumers"] else FAULTS_OF_SENDING
    if case["parameters"]["completions"]:
        return known
    return tuple(name for name in known if name not in FAULTS_OF_ACKS)


def without_outcome(case: dict[str, Any]) -> int:
    """Messages sent of which nothing was heard again: no ack, no failure, no copy.

    Both sides bound it: what the producer never heard of, and what no consumer saw or missed.
    """
    counts: dict[str, int] = case["accounting"]
    unanswered = counts["sent"] - counts["acked"] - counts["failed"]
    if not case["parameters"]["consumers"] and not case["parameters"]["completions"]:
        return 0  # nobody asked, neither here nor there
    if case["parameters"]["consumers"]:
        seen_or_missed = ("failed", "received", "lost_write", "unseen", "corrupt")
        unanswered = min(unanswered, counts["sent"] - sum(counts[name] for name in seen_or_missed))
    return max(0, unanswered)


def fault_count(case: dict[str, Any]) -> int:
    counts: dict[str, int] = case["accounting"]
    return sum(counts[name] for name in faults_checked(case)) + without_outcome(case)


def main_leg(case: dict[str, Any]) -> str:
    """The leg that speaks for the case: to the consumer, or to the ack when there is no consumer."""
    return "intended_to_received" if case["parameters"]["consumers"] else "sent_to_acked"


def warm_up_sentence(case: dict[str, Any]) -> str | None:
    warm_up = case["warm_up"]
    if warm_up is None:
        return None
    faults = sum(warm_up[name] for name in faults_checked(case))
    outcome = "no fault among them" if faults == 0 else f"{count_text(faults)} faults among them"
    return f"{count_text(warm_up['sent'])} warm-up messages are cut from every figure; {outcome}."


def limit_text(case: dict[str, Any]) -> str:
    limit, reason = case["bottleneck"]["limit"], case["bottleneck"]["reason"]
    if limit is None:
        return "not known"
    name = LIMIT_NAMES.get(limit, limit)
    return f"{name} – {reason}" if reason else name
