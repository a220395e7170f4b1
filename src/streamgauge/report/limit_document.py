"""The part of the document that a search for the limit has: what holds, what does not, and why."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streamgauge.plan.plan_file import Plan
from streamgauge.plan.rate_search import RateSearch, RateStep
from streamgauge.plan.search_file import SearchRecord, state_of
from streamgauge.spec.search import Search

Document = dict[str, Any]

_ENDINGS = {
    "found": "the rate that holds and the one that does not are as near as was asked for",
    "all held": "every rate up to the highest allowed one holds",
    "none held": "no rate down to the lowest that is tried holds",
    "time": "the time was up",
    None: "the search has not come to its end",
}


def limit_part(plan: Plan, record: SearchRecord, cases: list[Document]) -> Document | None:
    """None of a run that does not search."""
    if plan.kind != "limit":
        return None
    search = plan.section_as(Search)
    found = state_of(plan, record)
    by_case = {case["case"]: case for case in cases}
    return {
        "slo": [str(objective) for objective in search.slo],
        "held_per_s": found.held_per_s,
        "broken_per_s": found.broken_per_s,
        "within_percent": search.within_percent,
        "ending": record.ended,
        "ending_reason": _ENDINGS[record.ended],
        "took_s": round(sum(trial.took_s for trial in record.trials), 3),
        "bottleneck": _bottleneck(found, by_case),
        "steps": [_step(step) for step in sorted(found.steps, key=lambda step: step.rate_per_s)],
    }


def _step(step: RateStep) -> Document:
    trials = [{"case": trial.case, "holds": trial.holds, "missed": trial.missed} for trial in step.trials]
    return {"rate_per_s": step.rate_per_s, "holds": step.holds, "trials": trials}


def _bottleneck(found: RateSearch, by_case: dict[str, Document]) -> Document:
    """Of the lowest rate that does not hold, in whose trials something was at its end."""
    broken = sorted((s for s in found.steps if s.holds is False), key=lambda step: step.rate_per_s)
    if not broken:
        return {"limit": None, "reason": "no step missed an objective", "case": None}
    for step in broken:
        cases = [by_case[t.case] for t in step.trials if not t.holds and t.case in by_case]
        limits = [case for case in cases if case["bottleneck"]["limit"] not in (None, "none")]
        if limits:
            named, _ = Counter(case["bottleneck"]["limit"] for case in limits).most_common(1)[0]
            case = next(case for case in limits if case["bottleneck"]["limit"] == named)
            return {**case["bottleneck"], "case": case["case"]}
    trial = next(trial for trial in broken[0].trials if not trial.holds)
    return _by_exclusion(by_case.get(trial.case), trial.case)


def _by_exclusion(case: Document | None, case_id: str) -> Document:
    """Nothing was busy and the schedule was held: then messages waited behind the producer."""
    if case is None or not case["latency_ms"]["sent_to_received"]["count"]:
        return {"limit": None, "reason": "nothing is known of the step that missed", "case": case_id}
    acked, received = (case["latency_ms"][leg]["p99"] for leg in ("sent_to_acked", "sent_to_received"))
    lag = case["schedule_lag_ms"]["p99"]
    waited, where = f"to the consumer {received:,.4g} ms", "behind the producer"
    if acked is not None:
        waited = f"to the ack {acked:,.4g} ms, {waited}"
        where = where if 2 * acked > received else "between their ack and the consumer"
    reason = (
        f"the schedule was held and no client was out of CPU, so messages waited {where}: "
        f"p99 from sending {waited}, schedule lag p99 {lag:,.3g} ms"
    )
    return {"limit": "broker", "reason": reason, "case": case_id}
