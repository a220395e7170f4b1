"""What the report calls things; the console and the page say the same."""

from __future__ import annotations

from typing import Any

from streamgauge.report.parameters import swept_text
from streamgauge.report.quantities import count_text

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

FAULTS_OF_SENDING = ("failed",)
"""The only faults that can be seen without a consumer."""

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
    swept = swept_text(case["parameters"])
    return f"{case['target']} {swept}" if swept else str(case["target"])


def faults_checked(case: dict[str, Any]) -> tuple[str, ...]:
    """Without consumers nothing is known of what arrived, so nothing is said of it."""
    return FAULTS if case["parameters"]["consumers"] else FAULTS_OF_SENDING


def without_outcome(case: dict[str, Any]) -> int:
    """Messages sent of which nothing was heard again: no ack, no failure, no copy.

    Both sides bound it: what the producer never heard of, and what no consumer saw or missed.
    """
    counts: dict[str, int] = case["accounting"]
    unanswered = counts["sent"] - counts["acked"] - counts["failed"]
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
