"""What the report says of a limit; the console and the page say the same."""

from __future__ import annotations

from typing import Any

from streamgauge.report.quantities import rate_per_s_text

Document = dict[str, Any]

_STATISTICS = ("p50", "p99", "p99_9", "max")
_VERDICTS = {True: "holds", False: "does not hold", None: "not settled"}


def limit_sentence(limit: Document) -> str:
    """The answer, and how well it is known."""
    slo = " and ".join(limit["slo"])
    held, broken = limit["held_per_s"], limit["broken_per_s"]
    if held is None and broken is None:
        return f"Not known yet at which rate {slo} hold."
    if held is None:
        return f"No rate that was tried holds {slo}; the lowest was {rate_per_s_text(broken)}."
    if broken is None:
        return f"{rate_per_s_text(held)} hold {slo}; no rate that does not was found."
    return f"{rate_per_s_text(held)} hold {slo}; {rate_per_s_text(broken)} do not."


def verdict_text(step: Document) -> str:
    return _VERDICTS[step["holds"]]


def missed_text(step: Document) -> str:
    """Why trials of a step missed, each reason once."""
    return "; ".join(dict.fromkeys(why for trial in step["trials"] for why in trial["missed"]))


def step_statistics(document: Document, step: Document) -> dict[str, float | None]:
    """Of the trials that decided a step, the worse, figure by figure; the marks tell of the others."""
    decided = step["holds"]
    ids = [trial["case"] for trial in step["trials"] if decided is None or trial["holds"] == decided]
    cases = [case for case in document["cases"] if case["case"] in ids]
    legs = [case["latency_ms"]["intended_to_received"] for case in cases]
    worst = {
        name: max((leg[name] for leg in legs if leg[name] is not None), default=None) for name in _STATISTICS
    }
    rates = [case["throughput"]["received_messages_per_s"] for case in cases]
    return {**worst, "delivered_per_s": min((rate for rate in rates if rate is not None), default=None)}
