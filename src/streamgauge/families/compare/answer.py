"""Which library is faster, by how much, and in how many of the comparisons?"""

from __future__ import annotations

from statistics import median

from streamgauge.families.compare.document import Compared, CompareDocument
from streamgauge.families.compare.verdict import Verdict
from streamgauge.report.answering import answer_from, left_out_text, may_be_quoted, refusal_text
from streamgauge.report.document import Answer, Claim, State

_CODES = {
    Verdict.A_FASTER: "a_times_as_fast",
    Verdict.B_FASTER: "b_times_as_fast",
    Verdict.EQUIVALENT: "equivalent",
    Verdict.INCONCLUSIVE: "open",
}


def compare_answer(document: CompareDocument) -> Answer:
    quoted = [
        row
        for row in document.comparisons
        if may_be_quoted(row)
        and row.status is State.OK
        and not row.is_tainted
        and row.ratio_percent.median
        and row.interval_percent
    ]
    names = {"a": document.comparison.a.name, "b": document.comparison.b.name}
    claims = [
        _claim(verdict, rows, len(quoted), names)
        for verdict in _CODES
        if (rows := [row for row in quoted if row.verdict is verdict])
    ]
    claims.sort(key=lambda claim: -float(claim.about["count"] or 0))
    answer = answer_from(claims, document.parts)
    return answer.model_copy(update={"excluded_count": len(document.comparisons) - len(quoted)})


def _claim(verdict: Verdict, rows: list[Compared], total: int, names: dict[str, str]) -> Claim:
    """The middle of the cells' medians; and all that their intervals cover."""
    speeds = [_speeds(row, verdict) for row in rows]
    return Claim(
        code=_CODES[verdict],
        value=median(speed for _, speed, _ in speeds),
        low=min(low for low, _, _ in speeds),
        high=max(high for _, _, high in speeds),
        about={**names, "count": len(rows), "of_count": total},
    )


def _speeds(row: Compared, verdict: Verdict) -> tuple[float, float, float]:
    """How many times as fast the faster is; where none is, A."""
    assert row.ratio_percent.median is not None
    assert row.interval_percent is not None
    low, high = row.interval_percent
    if verdict is Verdict.B_FASTER:
        return low / 100, row.ratio_percent.median / 100, high / 100
    return (
        100 / high,
        100 / row.ratio_percent.median,
        100 / low if low > 0 else 100 / row.ratio_percent.median,
    )


def compare_text(answer: Answer) -> str:
    if not answer.claims:
        return refusal_text("Which library is faster", answer)
    first, *rest = answer.claims
    told = [_told(first), *(_told(claim) for claim in rest)]
    return f"{'; '.join(told)}.{left_out_text(answer, 'comparison')}"


def _told(claim: Claim) -> str:
    about = claim.about
    count, total = int(about["count"] or 0), int(about["of_count"] or 0)
    where = f"in {count} of {total} comparisons" if total > 1 else "here"
    times = f"{claim.value:.2f}× ({claim.low:.2f}–{claim.high:.2f}×)"
    if claim.code == _CODES[Verdict.A_FASTER]:
        return f"{about['a']} is {times} as fast as {about['b']} {where}"
    if claim.code == _CODES[Verdict.B_FASTER]:
        return f"{about['b']} is {times} as fast as {about['a']} {where}"
    said = "are equivalent" if claim.code == _CODES[Verdict.EQUIVALENT] else "cannot be told apart"
    return f"{about['a']} and {about['b']} {said} {where}"
