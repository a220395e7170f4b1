"""What the report of a comparison calls things; every medium says the same."""

from __future__ import annotations

from streamgauge.core.verdicts import Integrity
from streamgauge.families.compare.document import AppliedSetting, Compared, Conditions, Library
from streamgauge.families.compare.places import cell_words, place_words
from streamgauge.families.compare.verdict import Decision, Verdict
from streamgauge.report.document import State
from streamgauge.report.quantities import NOTHING, percent_text, plural

TEMPERATURE_MEANINGS = {
    "cold": "from before the client is created: connection, metadata and producer id count",
    "warm": "with a client that has worked before: the library alone",
}

_LETTERS = {Verdict.A_FASTER: "A", Verdict.B_FASTER: "B", Verdict.EQUIVALENT: "=", Verdict.INCONCLUSIVE: "?"}

_DECISIONS = {
    Decision.DECIDED: "decided after",
    Decision.OPEN_AT_TIME_LIMIT: "still open at the time limit, after",
    Decision.OPEN_AFTER_FAILURES: "still open when it kept failing, after",
    Decision.OPEN_WHEN_STOPPED: "still open when the run ended, after",
}

LEGEND = (
    "Times of A over times of B, in percent: below 100 A is faster. In brackets the 95% interval. "
    "A, B: that one is faster; = equivalent; ? inconclusive; ! not to be quoted; ✗ something failed."
)


def place_text(row: Compared) -> str:
    return place_words(row.operation, row.temperature, row.messages, row.length)


def cell_name(row: Compared) -> str:
    return cell_words(row.messages, row.length)


def interval_text(interval: tuple[float, float] | None) -> str:
    return NOTHING if interval is None else f"{percent_text(interval[0])}–{percent_text(interval[1])}"


def p_text(p: float | None) -> str:
    if p is None:
        return NOTHING
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def verdict_mark(row: Compared) -> str:
    """A letter, and what takes trust from it."""
    is_whole = row.status is State.OK and row.integrity.verdict in (Integrity.OK, Integrity.NOT_MEASURED)
    return _LETTERS[row.verdict] + ("!" if row.validity.causes else "") + ("" if is_whole else "✗")


def verdict_text(row: Compared, conditions: Conditions) -> str:
    """The verdict with the libraries' names."""
    said = row.verdict.value
    if row.verdict is Verdict.A_FASTER:
        said += f": {conditions.a.name}"
    elif row.verdict is Verdict.B_FASTER:
        said += f": {conditions.b.name}"
    elif row.verdict is Verdict.EQUIVALENT:
        said += f" (±{conditions.equivalence_percent:g}%)"
    return said + (" – but the control failed" if row.is_tainted else "")


def decision_text(row: Compared) -> str:
    """Of a run until decided: whether it was, and how many rounds that took."""
    if row.decision is None:
        return NOTHING
    return f"{_DECISIONS[row.decision]} {plural(row.rounds or 0, 'round')}"


def rounds_text(conditions: Conditions) -> str:
    """How many were to be had, in the words of the conditions."""
    said = plural(conditions.repeat, "repetition")
    if conditions.until_decided:
        limit = conditions.time_limit_s
        at_most = "" if limit is None else f", for {limit:g} s at most"
        said += f" and more wherever a verdict is open{at_most}"
    return said


def side_name(side: str, conditions: Conditions) -> str:
    return {"a": conditions.a.name, "control": "control (A again)", "b": conditions.b.name}[side]


def library_text(library: Library) -> str:
    driver = None if library.driver == library.name else library.driver
    about = ", ".join(part for part in (driver, library.version) if part)
    loop = ", loop in the JVM" if library.engine == "jvm" else ""
    return library.name + (f" ({about})" if about else "") + loop


def setting_text(found: AppliedSetting | None, *, is_shared: bool) -> str:
    """What was in force in one library, by its own name; or that it has no such thing."""
    if found is None:
        return NOTHING
    if not is_shared:
        return str(found.value)
    if found.native is None:
        return f"no equivalent: {found.note}" if found.note else "no equivalent"
    value = "left to the system" if found.value is None else found.value
    note = f"; {found.note}" if found.note else ""
    return f"{value} ({found.native}{note})"
