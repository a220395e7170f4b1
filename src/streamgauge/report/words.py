"""What things are called: one word for each, in every medium. docs/words.md has the same table for people."""

from __future__ import annotations

from streamgauge.report.case_document import Accounting, Case
from streamgauge.report.parameters import knob_name, knob_text, swept_text
from streamgauge.report.quantities import NOTHING, count_text
from streamgauge.tables.faults import NO_ACKS, faults_checked, hears_of_messages, without_outcome

TIMES = {
    "intended": "when the schedule wanted it sent",
    "sent": "just before it was handed to the client library",
    "acked": "when its acknowledgement was seen",
    "broker": "the record's own timestamp, in whole milliseconds",
    "received": "when the consumer's code had it",
}
"""The times of a message, in their order."""

LEG_NAMES = {
    "intended_to_received": "received − intended",
    "sent_to_received": "received − sent",
    "sent_to_acked": "acked − sent",
    "sent_to_broker": "broker − sent",
    "broker_to_received": "received − broker",
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
    "aborted": "aborted",
    "received": "received",
    "lost_write": "lost-write",
    "unseen": "unseen",
    "duplicate": "duplicate",
    "out_of_order": "out of order",
    "corrupt": "corrupt",
    "unexpected": "unexpected",
}

COUNT_MEANINGS = {name: field.description or "" for name, field in Accounting.model_fields.items()}

_MOST_KNOBS = 5


def case_title(case: Case) -> str:
    """What tells this case from the others."""
    parts = [case.target, swept_text(case.parameters)]
    if case.iteration > 1:
        parts.append(f"round {case.iteration}")
    return " ".join(part for part in parts if part)


def knob_columns(cases: list[Case]) -> dict[str, dict[str, str]]:
    """What tells cases apart: a column a swept field, by case; too many of them share one."""
    swept = dict.fromkeys(path for case in cases for path in case.parameters.swept)
    if not swept or len(swept) > _MOST_KNOBS:
        return {"target": {case.case: case_title(case) for case in cases}}
    columns: dict[str, dict[str, str]] = {}
    if len({case.target for case in cases}) > 1:
        columns["target"] = {case.case: case.target for case in cases}
    for path in swept:
        values = {case.case: case.parameters.swept.get(path) for case in cases}
        columns[knob_name(path)] = {
            case: NOTHING if value is None else knob_text(value) for case, value in values.items()
        }
    if any(case.iteration > 1 for case in cases):
        columns["round"] = {case.case: str(case.iteration) for case in cases}
    return columns


def claims_acks(case: Case) -> bool:
    """Whether a broker's word on messages was asked for, and heard."""
    return case.parameters.completions and case.parameters.acks != NO_ACKS


def checked_of(case: Case) -> tuple[str, ...]:
    """The faults that somebody looked for."""
    return faults_checked(**_looked(case))


def without_outcome_of(case: Case) -> int:
    return without_outcome(case.accounting.model_dump(), **_looked(case))


def _looked(case: Case) -> dict[str, bool]:
    return {
        "has_consumers": case.parameters.consumers > 0,
        "has_completions": hears_of_messages(
            completions=case.parameters.completions,
            acks=case.parameters.acks,
            has_consumers=case.parameters.consumers > 0,
        ),
    }


def fault_count(case: Case) -> int:
    counts = case.accounting.model_dump()
    return sum(int(counts[name]) for name in checked_of(case)) + without_outcome_of(case)


def warm_up_sentence(case: Case) -> str | None:
    if case.warm_up is None:
        return None
    faults = sum(getattr(case.warm_up, name) for name in checked_of(case))
    outcome = "no fault among them" if faults == 0 else f"{count_text(faults)} faults among them"
    return f"{count_text(case.warm_up.sent)} warm-up messages are cut from every figure; {outcome}."
