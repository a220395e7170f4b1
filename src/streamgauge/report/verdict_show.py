"""How the two verdicts are shown: the same for every family. Green only if both hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from streamgauge.core.outcomes import Outcome
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, Validity
from streamgauge.report.cause_words import (
    INTEGRITY_WORDS,
    OUTCOME_WORDS,
    VALIDITY_WORDS,
    advice_text,
    cause_text,
)
from streamgauge.report.document import Document, State, Verdicts
from streamgauge.report.medium import Tone
from streamgauge.report.shown import Badge, Note, Notes, Verdict
from streamgauge.report.shown_tables import Cell

_INTEGRITY_TONES = {
    Integrity.OK: Tone.GOOD,
    Integrity.DUPLICATE: Tone.WARN,
    Integrity.OUT_OF_ORDER: Tone.WARN,
    Integrity.UNEXPECTED: Tone.WARN,
    Integrity.NO_OUTCOME: Tone.WARN,
    Integrity.NOT_CHECKED: Tone.QUIET,
    Integrity.NOT_MEASURED: Tone.QUIET,
}
_VALIDITY_TONES = {
    Validity.VALID: Tone.GOOD,
    Validity.INVALID: Tone.WARN,
    Validity.NOT_MEASURED: Tone.QUIET,
}
_OUTCOME_TONES = {
    Outcome.MET: Tone.GOOD,
    Outcome.MISSED: Tone.BAD,
    Outcome.NOT_DECIDABLE: Tone.WARN,
}
_STATE_TONES = {
    State.OK: Tone.GOOD,
    State.FAILED: Tone.BAD,
    State.PARTIAL: Tone.WARN,
    State.RUNNING: Tone.WARN,
    State.NOT_ANALYSED: Tone.WARN,
    State.NOT_RUN: Tone.QUIET,
}
_NAMED = 5
"""Parts named one by one; more are counted."""


def integrity_tone(verdict: Integrity) -> Tone:
    return _INTEGRITY_TONES.get(verdict, Tone.BAD)


def validity_tone(verdict: Validity) -> Tone:
    return _VALIDITY_TONES[verdict]


def outcome_tone(outcome: Outcome) -> Tone:
    return _OUTCOME_TONES[outcome]


def badge_of(status: State, integrity: Integrity, validity: Validity, outcome: Outcome | None) -> Badge:
    """The gravest of what there is to say, in a word or two."""
    if status is not State.OK:
        return Badge(status.value, _STATE_TONES[status])
    if outcome is Outcome.MISSED:
        return Badge("objective missed", outcome_tone(outcome))
    if integrity_tone(integrity) in (Tone.BAD, Tone.WARN):
        return Badge(INTEGRITY_WORDS[integrity], integrity_tone(integrity))
    if validity is Validity.INVALID:
        return Badge(VALIDITY_WORDS[validity], Tone.WARN)
    if outcome is Outcome.NOT_DECIDABLE:
        return Badge(f"objective {OUTCOME_WORDS[outcome]}", outcome_tone(outcome))
    is_good = integrity is Integrity.OK and validity is Validity.VALID
    return Badge(status.value, Tone.GOOD if is_good else Tone.QUIET)


def run_badge(document: Document) -> Badge:
    return badge_of(document.status, document.integrity, document.validity, document.objectives)


def part_badge(part: Verdicts) -> Badge:
    return badge_of(part.status, part.integrity.verdict, part.validity.verdict, part.outcome)


def verdict_cells(part: Verdicts) -> tuple[Cell, Cell, Cell]:
    """Status, integrity and validity."""
    integrity, validity = part.integrity.verdict, part.validity.verdict
    return (
        # Green only if both hold, whatever the word.
        Cell(part.status.value, part_badge(part).tone, is_pill=True),
        Cell(INTEGRITY_WORDS[integrity], integrity_tone(integrity)),
        Cell(VALIDITY_WORDS[validity], validity_tone(validity)),
    )


def outcome_cell(part: Verdicts) -> Cell:
    """The worst of its objectives."""
    found = part.outcome
    return Cell(None) if found is None else Cell(OUTCOME_WORDS[found], outcome_tone(found))


def run_reason(document: Document, parts: int, noun: str) -> str | None:
    """Why the run is not ok: as it noted itself, or which of its parts are not."""
    if not document.marked:
        return document.reason
    named = ", ".join(document.marked[:_NAMED])
    more = f" and {len(document.marked) - _NAMED} more" if len(document.marked) > _NAMED else ""
    return f"{len(document.marked)} of {parts} {noun} {document.status.value}: {named}{more}"


def run_verdicts(document: Document, parts: Mapping[str, Verdicts]) -> list[Verdict]:
    """Both verdicts on the run, each with why and what to do. `parts`: what they are made of, by name."""
    return [
        Verdict(
            "Integrity",
            INTEGRITY_WORDS[document.integrity],
            integrity_tone(document.integrity),
            _why(parts, lambda part: part.integrity.causes, is_advised=False),
        ),
        Verdict(
            "Validity",
            VALIDITY_WORDS[document.validity],
            validity_tone(document.validity),
            _why(parts, lambda part: part.validity.causes, is_advised=True),
        ),
    ]


def _why(
    parts: Mapping[str, Verdicts], causes_of: Callable[[Verdicts], list[Cause]], *, is_advised: bool
) -> list[str]:
    """Of one part its causes; of several each cause once, with how many have it."""
    if len(parts) == 1:
        [part] = parts.values()
        return [_line(cause, is_advised) for cause in causes_of(part)]
    first: dict[CauseCode, tuple[str, Cause]] = {}
    count: Counter[CauseCode] = Counter()
    for name, part in parts.items():
        for code in dict.fromkeys(cause.code for cause in causes_of(part)):
            count[code] += 1
        for cause in causes_of(part):
            first.setdefault(cause.code, (name, cause))
    lines = []
    for code, many in count.most_common():
        name, cause = first[code]
        where = name if many == 1 else f"{many} of {len(parts)}, as {name}"
        lines.append(f"{where}: {_line(cause, is_advised)}")
    return lines


def _line(cause: Cause, is_advised: bool) -> str:
    advice = advice_text(cause) if is_advised else None
    return cause_text(cause) + (f" → {advice}" if advice else "")


def cause_blocks(part: Verdicts) -> list[Notes | Note]:
    """What is to be said of one part: faults, doubts and notes, each in its tone."""
    blocks: list[Notes | Note] = []
    if part.integrity.causes:
        tone = integrity_tone(part.integrity.verdict)
        blocks.append(Notes([cause_text(cause) for cause in part.integrity.causes], tone))
    if part.validity.causes:
        lines = [f"Do not quote: {_line(cause, True)}" for cause in part.validity.causes]
        blocks.append(Notes(lines, Tone.WARN))
    if part.notes:
        tone = _STATE_TONES[part.status] if part.status is not State.OK else Tone.PLAIN
        blocks.append(Notes([cause_text(cause) for cause in part.notes], tone))
    return blocks
