"""Which transport is faster, by how much, and at what price?"""

from __future__ import annotations

from streamgauge.comparing.between_runs import usual_sd
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import measured_cases
from streamgauge.comparing.ratio import CONFIDENCE, ratio_of
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.families.transports.document import TransportRow, TransportsDocument
from streamgauge.report.answering import answer_from, interval_text, left_out_text, refusal_text
from streamgauge.report.cases_show import rate_name
from streamgauge.report.document import Answer, Claim, State
from streamgauge.report.quantities import fine_text
from streamgauge.spec.metrics import percentile

FASTER, ALONE = "times_as_fast", "p50_ms"


def transports_answer(run: RunDir, document: TransportsDocument) -> Answer:
    quoted = [row for row in document.transports.rows if _is_quoted(row)]
    # At the lowest rate that most of them held: there each shows what it costs, and not its queue.
    by_rate = {
        rate: [row for row in quoted if row.rate_per_s == rate] for rate in {row.rate_per_s for row in quoted}
    }
    if not by_rate:
        return answer_from([], document.parts)
    rate = min(by_rate, key=lambda rate: (-len(by_rate[rate]), rate))
    rows = sorted(by_rate[rate], key=lambda row: row.p50_ms or 0.0)
    return answer_from([_claim(run, document, rows[0], rows[-1], len(rows))], document.parts)


def _is_quoted(row: TransportRow) -> bool:
    return (
        row.status is State.OK
        and row.validity is Validity.VALID
        and row.integrity is Integrity.OK
        and bool(row.held)
        and bool(row.p50_ms)
    )


def _claim(
    run: RunDir, document: TransportsDocument, fast: TransportRow, slow: TransportRow, count: int
) -> Claim:
    estimates = _estimates(run, document, (fast.case, slow.case))
    keeps = {
        about.transport: None if about.promises is None else about.promises.durable
        for about in document.transports.transports
    }
    about: dict[str, str | float | bool | None] = {
        "transport": fast.transport,
        "rate_per_s": fast.rate_per_s,
        "keeps": keeps[fast.transport],
    }
    if fast is slow:
        found = estimates.get(fast.case)
        limits = None if found is None or found.limits is None else found.limits(CONFIDENCE)
        low, high = limits or (None, None)
        return Claim(code=ALONE, value=fast.p50_ms or 0.0, low=low, high=high, about=about)
    about |= {"against": slow.transport, "against_keeps": keeps[slow.transport], "transport_count": count}
    plain = (slow.p50_ms or 0.0) / (fast.p50_ms or 1.0)
    if len(estimates) < 2:
        return Claim(code=FASTER, value=plain, about=about)
    ratio = ratio_of([estimates[fast.case]], [estimates[slow.case]], usual_sd(0.5))
    low, high = ratio.interval or (None, None)
    return Claim(code=FASTER, value=ratio.ratio, low=low, high=high, about=about)


def _estimates(run: RunDir, document: TransportsDocument, cases: tuple[str, ...]) -> dict[str, Estimate]:
    metric = percentile("p50")
    assert metric is not None
    told = {part.case: part.estimate(metric) for part in measured_cases(run, document, cases)}
    return {case: found for case, found in told.items() if isinstance(found, Estimate)}


def transports_text(answer: Answer) -> str:
    if not answer.claims:
        return refusal_text("Which transport is faster", answer)
    [claim] = answer.claims
    about = claim.about
    at = f"at {rate_name(float(about['rate_per_s'] or 0))}/s"
    if claim.code == ALONE:
        value = f"{fine_text(claim.value)} ms{interval_text(claim, fine_text)}"
        return f"{about['transport']} has a median of {value} {at}.{left_out_text(answer, 'case')}"
    times = f"{_times(claim.value)}×{interval_text(claim, _times)}"
    price = ", but keeps nothing" if about["keeps"] is False and about["against_keeps"] else ""
    count = int(about["transport_count"] or 0)
    among = f", the slowest of {count}," if count > 2 else ""
    told = f"{about['transport']} is {times} as fast as {about['against']}{among} {at} by the median{price}"
    return f"{told}.{left_out_text(answer, 'case')}"


def _times(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2f}" if value < 3 else f"{value:.1f}"
