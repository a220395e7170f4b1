"""How late are messages, or how many go through? Of each target, with its interval."""

from __future__ import annotations

from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import Measured, measured_cases
from streamgauge.comparing.ratio import CONFIDENCE
from streamgauge.core.run_dir import RunDir
from streamgauge.report.answering import (
    answer_from,
    interval_text,
    left_out_text,
    may_be_quoted,
    refusal_text,
)
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.document import Answer, Claim
from streamgauge.report.quantities import count_text, digits_text, rate_per_s_text
from streamgauge.report.words import fault_count
from streamgauge.spec.metrics import RATE, percentile

P99, HIGHEST_RATE, FAULTS = "p99_ms", "messages_per_s", "fault_count"
_ARRIVE = {"intended_to_received": "arrive", "sent_to_acked": "are acked"}


def end_to_end_answer(run: RunDir, document: CasesDocument) -> Answer:
    quoted = {case.case: case for case in document.cases if case.is_measured and may_be_quoted(case)}
    parts = {part.case: part for part in measured_cases(run, document, quoted)} if quoted else {}
    claims = [claim for case in quoted.values() if (claim := _claim(case, parts[case.case])).value]
    claims.sort(key=lambda claim: claim.value if claim.code == P99 else -claim.value)
    if claims and (faults := sum(fault_count(case) for case in quoted.values())):
        sent = sum(case.accounting.sent for case in quoted.values())
        claims.append(Claim(code=FAULTS, value=faults, about={"sent_count": sent}))
    return answer_from(claims, document.parts)


def _claim(case: Case, part: Measured) -> Claim:
    about: dict[str, str | float | bool | None] = {"target": case.target}
    if case.parameters.rate == "unlimited":
        return claim_of(HIGHEST_RATE, case.out_per_s, part.estimate(RATE), about)
    about |= {"rate_per_s": case.parameters.constant_rate, "leg": case.main_leg}
    metric = percentile("p99")
    assert metric is not None
    return claim_of(P99, case.main_latency.p99, part.estimate(metric), about)


def claim_of(
    code: str, value: float | None, told: object, about: dict[str, str | float | bool | None]
) -> Claim:
    """The value is the report's own; blocks of messages say how sure it is."""
    limits = told.limits if isinstance(told, Estimate) else None
    low, high = limits(CONFIDENCE) if limits is not None else (None, None)
    return Claim(code=code, value=value or 0.0, low=low, high=high, about=about)


def end_to_end_text(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if claim.code != FAULTS]
    if not claims:
        return refusal_text("How late messages are", answer)
    told = _one(claims[0]) if len(claims) == 1 else _several(claims)
    return f"{told}{_faults(answer)}.{left_out_text(answer, 'target')}"


def _one(claim: Claim) -> str:
    target = claim.about["target"]
    if claim.code == HIGHEST_RATE:
        return f"As fast as it can, {target} takes {rate_text(claim)}"
    arrive = _ARRIVE[str(claim.about["leg"])]
    return f"{_at(claim)}, 99% of the messages through {target} {arrive} within {ms_text(claim)}"


def _several(claims: list[Claim]) -> str:
    first, *rest = claims
    form = rate_text if first.code == HIGHEST_RATE else ms_text
    what = "takes most" if first.code == HIGHEST_RATE else f"has the lowest p99 {_at(first).lower()}"
    then = ", ".join(f"{claim.about['target']} {form(claim)}" for claim in rest)
    return f"{first.about['target']} {what}: {form(first)}; then {then}{_not_told_apart(first, rest)}"


def _not_told_apart(first: Claim, rest: list[Claim]) -> str:
    """Who is first may be so by chance."""
    alike = [str(claim.about["target"]) for claim in rest if _overlap(first, claim)]
    if not alike:
        return ""
    which = "takes more" if first.code == HIGHEST_RATE else "is lower"
    names = ", ".join([str(first.about["target"]), *alike[:-1]])
    return f"; the intervals of {names} and {alike[-1]} overlap, so this run does not show which {which}"


def _overlap(one: Claim, other: Claim) -> bool:
    """Where both are known."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return max(one.low, other.low) <= min(one.high, other.high)


def _at(claim: Claim) -> str:
    rate = claim.about["rate_per_s"]
    return "At its rates" if rate is None else f"At {rate_per_s_text(float(rate))}"


def ms_text(claim: Claim) -> str:
    return f"{digits_text(claim.value)} ms{interval_text(claim, digits_text)}"


def rate_text(claim: Claim) -> str:
    return f"{rate_per_s_text(claim.value)}{interval_text(claim, rate_per_s_text)}"


def _faults(answer: Answer) -> str:
    found = next((claim for claim in answer.claims if claim.code == FAULTS), None)
    if found is None:
        return ""
    sent = int(found.about["sent_count"] or 0)
    return f", but {count_text(int(found.value))} of {count_text(sent)} messages have faults"
