"""How many clients are served? Between the most that held and the fewest that did not lies the truth."""

from __future__ import annotations

from streamgauge.families.fanout.document import FanoutDocument, Point
from streamgauge.report.answering import answer_from, left_out_text, may_be_quoted, refusal_text
from streamgauge.report.document import Answer, Claim
from streamgauge.report.quantities import digits_text

MOST = "most_clients"
_SERIES_AT_MOST = 3


def fanout_answer(document: FanoutDocument) -> Answer:
    series: dict[str, list[Point]] = {}
    for point in document.fanout.points:
        series.setdefault(point.series, []).append(point)
    claims = [claim for name, points in series.items() if (claim := _claim(name, points)) is not None]
    claims.sort(key=lambda claim: -claim.value)
    # A series is run to its end: that its last point breaks is no reason to leave it out.
    held = {f"{point.series} {point.clients}": point for point in document.fanout.points if point.holds}
    return answer_from(claims, held or document.parts)


def _claim(series: str, points: list[Point]) -> Claim | None:
    held = [point for point in points if point.holds and may_be_quoted(point)]
    if not held:
        return None
    best = max(held, key=lambda point: point.clients)
    broken = [point.clients for point in points if point.holds is False and point.clients > best.clients]
    return Claim(
        code=MOST,
        value=best.clients,
        low=best.clients,
        high=min(broken, default=None),
        about={"series": series, "mean_ms": best.latency_ms.mean, "rate_per_s": best.rate_per_s},
    )


def fanout_text(answer: Answer) -> str:
    if not answer.claims:
        return refusal_text("How many clients are served", answer)
    told = [_told(claim) for claim in answer.claims[:_SERIES_AT_MOST]]
    more = len(answer.claims) - len(told)
    rest = f"; {more} more series serve fewer" if more > 0 else ""
    return f"{'; '.join(told)}{rest}.{left_out_text(answer, 'point')}"


def _told(claim: Claim) -> str:
    mean = claim.about["mean_ms"]
    late = "" if mean is None else f", {digits_text(float(mean))} ms late on average"
    ends = ", the most that was tried" if claim.high is None else f", not {claim.high:,.0f}"
    return f"{claim.about['series']} serves {claim.value:,.0f} clients{ends}{late}"
