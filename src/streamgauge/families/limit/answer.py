"""What is the highest rate that holds? Between it and the lowest that does not lies the truth."""

from __future__ import annotations

from streamgauge.core.verdicts import Validity
from streamgauge.families.limit.document import LimitDocument
from streamgauge.report.answering import answer_from, refusal_text
from streamgauge.report.cause_words import LIMIT_WORDS
from streamgauge.report.document import Answer, Claim
from streamgauge.report.quantities import rate_per_s_text

HIGHEST, NONE_HELD = "highest_rate_per_s", "lowest_rate_tried_per_s"


def limit_answer(document: LimitDocument) -> Answer:
    found = document.limit
    about: dict[str, str | float | bool | None] = {"slo": " and ".join(found.slo)}
    about["undecided_per_s"] = found.undecided_per_s
    about["limit"] = None if found.bottleneck.limit is None else LIMIT_WORDS[found.bottleneck.limit]
    claims = []
    if found.held_per_s is not None and document.validity is Validity.VALID:
        claims.append(
            Claim(
                code=HIGHEST,
                value=found.held_per_s,
                low=found.held_per_s,
                high=found.broken_per_s,
                about=about,
            )
        )
    elif found.held_per_s is None and found.broken_per_s is not None:
        claims.append(Claim(code=NONE_HELD, value=found.broken_per_s, about=about))
    # Cases beyond the limit are there to break, and no reason not to say it.
    answer = answer_from(claims, document.parts)
    return answer if not claims else Answer(claims=claims)


def limit_answer_text(answer: Answer) -> str:
    if not answer.claims:
        return refusal_text("The highest rate", answer)
    [claim] = answer.claims
    slo, rate = claim.about["slo"], rate_per_s_text(claim.value)
    if claim.code == NONE_HELD:
        return f"No rate that was tried holds {slo}: the lowest was {rate}."
    undecided = claim.about.get("undecided_per_s")
    doubt = f", {rate_per_s_text(float(undecided))} are not decidable" if undecided is not None else ""
    if claim.high is None:
        return f"{rate} hold {slo}{doubt}, and no rate was found that does not."
    named = claim.about["limit"]
    why = f", and the limit is: {named}" if named else ""
    return f"{rate} hold {slo}{doubt}, {rate_per_s_text(claim.high)} do not{why}."
