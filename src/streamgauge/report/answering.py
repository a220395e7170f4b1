"""What the answers of all families have in common: what may not be said, and how intervals are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from streamgauge.core.verdicts import Cause, CauseCode, Validity, cause
from streamgauge.report.cause_words import advice_text, cause_text
from streamgauge.report.document import Answer, Claim, Document, Verdicts
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import plural
from streamgauge.report.shown import Said, Shown
from streamgauge.spec.families import family_of

_REASONS_AT_MOST = 2


def answer_from(claims: Iterable[Claim], parts: Mapping[str, Verdicts]) -> Answer:
    """Claims that were made of the parts that may be quoted; `parts`: all of them."""
    doubtful = [part for part in parts.values() if part.validity.verdict is not Validity.VALID]
    found = list(claims)
    nothing = [cause(CauseCode.NOTHING_MEASURED)]
    causes = _each_once(why for part in doubtful for why in part.validity.causes or nothing)
    if not found and not causes:
        causes = nothing
    return Answer(claims=found, causes=causes, excluded_count=len(doubtful))


def may_be_quoted(part: Verdicts) -> bool:
    return part.validity.verdict is Validity.VALID


def refusal_text(question: str, answer: Answer) -> str:
    """What may not be said, and why."""
    return f"{question} cannot be said from this run: {_reasons(answer)}."


def left_out_text(answer: Answer, noun: str) -> str:
    """After a sentence that not all parts are behind; empty when they are."""
    if not answer.excluded_count:
        return ""
    verb = "is" if answer.excluded_count == 1 else "are"
    why = f": {_reasons(answer)}" if answer.causes else ""
    return f" {plural(answer.excluded_count, noun)} {verb} left out{why}."


def _reasons(answer: Answer) -> str:
    told = [_reason(found) for found in answer.causes[:_REASONS_AT_MOST]]
    more = len(answer.causes) - len(told)
    return "; ".join(told) + (f"; and {plural(more, 'more reason')}" if more > 0 else "")


def _reason(found: Cause) -> str:
    advice = advice_text(found)
    return cause_text(found).rstrip(".") + (f" → {advice}" if advice else "")


def _each_once(causes: Iterable[Cause]) -> list[Cause]:
    first: dict[CauseCode, Cause] = {}
    for found in causes:
        first.setdefault(found.code, found)
    return list(first.values())


def interval_text(claim: Claim, form: Callable[[float], str]) -> str:
    """In brackets, after the value; what nothing tells of is not written."""
    if claim.low is None or claim.high is None:
        return ""
    return f" ({form(claim.low)}–{form(claim.high)})"


def with_answer(shown: Shown, document: Document) -> Shown:
    answer = document.answer
    if answer is None:
        return shown
    text = family_of(document.kind).answer_text(answer)
    is_whole = bool(answer.claims) and not answer.excluded_count and document.is_good
    return replace(shown, answer=Said(text, Tone.PLAIN if is_whole else Tone.WARN))
