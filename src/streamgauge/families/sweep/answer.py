"""What does each knob cost? By the doubling where it is a number, with its interval."""

from __future__ import annotations

import math

from streamgauge.families.sweep.document import SweepDocument
from streamgauge.families.sweep.effect_figures import RESPONSE_NAMES, value_words
from streamgauge.families.sweep.effects import MainEffect, main_effects
from streamgauge.report.answering import answer_from, left_out_text, may_be_quoted, refusal_text
from streamgauge.report.document import Answer, Claim, State
from streamgauge.report.quantities import digits_text

DOUBLING, INSTEAD = "ratio_of_a_doubling", "ratio_of_a_value"
_KNOBS_AT_MOST = 3
_MANY_TIMES = 2.0
"""From here on a ratio says more than a percentage."""


def sweep_answer(document: SweepDocument) -> Answer:
    whole = [
        case
        for case in document.cases
        if case.status is State.OK and case.main_latency.count and may_be_quoted(case)
    ]
    is_unpaced = bool(whole) and all(case.parameters.rate == "unlimited" for case in whole)
    response = "messages_per_s" if is_unpaced else "p99_ms"
    # Of each knob its last value: that is farthest from the first.
    farthest = {effect.knob: effect for effect in main_effects(whole) if effect.response == response}
    claims = [_claim(effect) for effect in farthest.values()]
    claims.sort(key=lambda claim: (not _is_clear(claim), -abs(math.log(claim.value))))
    return answer_from(claims, document.parts)


def _claim(effect: MainEffect) -> Claim:
    about: dict[str, str | float | bool | None] = {"knob": effect.knob, "response": effect.response}
    doublings = _doublings(effect)
    about["pair_count"] = effect.pair_count
    if doublings is None:
        about |= {
            "value": value_words(effect.knob, effect.value),
            "base": value_words(effect.knob, effect.base),
        }
        return Claim(code=INSTEAD, value=effect.ratio, low=effect.low, high=effect.high, about=about)
    value, low, high = (
        None if ratio is None else ratio ** (1 / doublings)
        for ratio in (effect.ratio, effect.low, effect.high)
    )
    return Claim(code=DOUBLING, value=value or 1.0, low=low, high=high, about=about)


def _doublings(effect: MainEffect) -> float | None:
    """How often the knob was doubled; None: it is no number, or nothing that doubles."""
    values = (effect.base, effect.value)
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0 for value in values):
        return None
    return math.log2(effect.value / effect.base) or None


def _is_clear(claim: Claim) -> bool:
    return claim.low is not None and claim.high is not None and (claim.low > 1 or claim.high < 1)


def sweep_text(answer: Answer) -> str:
    if not answer.claims:
        return refusal_text("What the knobs cost", answer)
    told = "; ".join(_told(claim) for claim in answer.claims[:_KNOBS_AT_MOST])
    return f"{told[0].upper()}{told[1:]}.{left_out_text(answer, 'case')}"


def _told(claim: Claim) -> str:
    about = claim.about
    knob, name = about["knob"], RESPONSE_NAMES[str(about["response"])]
    is_doubling = claim.code == DOUBLING
    what = (
        f"each doubling of {knob}" if is_doubling else f"{knob} {about['value']} instead of {about['base']}"
    )
    if claim.low is None or claim.high is None:
        return f"{what} {_change(claim, name)} according to a single pair of cases, which gives no interval"
    if _is_clear(claim):
        return f"{what} {_change(claim, name)}"
    is_wide = claim.high > 1 + _MANY_TIMES
    low, high = (
        f"×{digits_text(ratio)}" if is_wide else f"{100 * (ratio - 1):+.0f}%"
        for ratio in (claim.low, claim.high)
    )
    per = " per doubling" if is_doubling else ""
    return f"no effect of {knob} on {name} can be seen ({low} to {high}{per})"


def _change(claim: Claim, name: str) -> str:
    """Which way, and by how much."""
    if claim.value >= _MANY_TIMES or claim.value <= 1 / _MANY_TIMES:
        return f"makes {name} {_around(claim, digits_text)} times what it was"
    if claim.value >= 1:
        return f"raises {name} by {_around(claim, lambda ratio: f'{100 * (ratio - 1):.1f}')}%"
    return f"lowers {name} by {_around(claim, lambda ratio: f'{100 * (1 - ratio):.1f}')}%"


def _around(claim: Claim, form: object) -> str:
    assert callable(form)
    if claim.low is None or claim.high is None:
        return str(form(claim.value))
    ends = sorted((form(claim.low), form(claim.high)), key=float)
    return f"{form(claim.value)} ({ends[0]}–{ends[1]})"
