"""What the list of runs says of each: enough to choose one by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from streamgauge.core.errors import CorruptRun
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tags_of
from streamgauge.core.status import NOT_ANALYSED, read_status, why_and_what_to_do, why_no_report
from streamgauge.core.units import format_bytes
from streamgauge.plan.plan_file import Plan, read_plan
from streamgauge.report.cause_words import OUTCOME_WORDS
from streamgauge.report.document import Document, Glance
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import DOUBT, NOTHING, digits_text, rate_per_s_text
from streamgauge.report.results import stored_document
from streamgauge.tables.percentile_support import is_supported

_MANY_TARGETS = 3
_GOOD = ("ok", "valid", "met", NOTHING)
_TONES = {"ok": Tone.GOOD, "running": Tone.PLAIN, "partial": Tone.WARN, NOT_ANALYSED: Tone.WARN}
_AGES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True)
class Listed:
    """One row."""

    run: RunDir
    state: str
    verdicts: tuple[str, str, str] = (NOTHING, NOTHING, NOTHING)
    """Integrity, validity, objectives."""
    cases: str = "?"
    why: str = ""
    target: str = NOTHING
    glances: Sequence[Glance] = ()
    tags: Sequence[str] = field(default_factory=list)

    @property
    def tone(self) -> Tone:
        """Good only if both verdicts hold, and every objective is met."""
        is_good = all(verdict in _GOOD for verdict in self.verdicts)
        return _TONES.get(self.state, Tone.BAD) if self.state != "ok" or is_good else Tone.WARN

    @property
    def rate(self) -> str:
        return _range_text((glance.rate_per_s for glance in self.glances), rate_per_s_text)

    @property
    def p50_ms(self) -> str:
        return self._percentile("p50", "p50_ms")

    @property
    def p99_ms(self) -> str:
        return self._percentile("p99", "p99_ms")

    def _percentile(self, percentile: str, field: str) -> str:
        """One with too few messages behind it is marked, as in a report."""
        doubtful = {
            getattr(each, field)
            for each in self.glances
            if each.message_count is not None and not is_supported(percentile, each.message_count)
        }

        def text(value: float) -> str:
            return f"{DOUBT if value in doubtful else ''}{digits_text(value)}"

        return _range_text((getattr(each, field) for each in self.glances), text)

    @property
    def age(self) -> str:
        return NOTHING if self.run.begun_s is None else age_text(time.time() - self.run.begun_s)

    @property
    def size(self) -> str:
        return format_bytes(self.run.size_bytes())


def listed(run: RunDir) -> Listed:
    """A run that cannot be read is listed too: it is there, and someone will look for it."""
    try:
        plan, status, tags = read_plan(run), read_status(run), tags_of(run)
        begun = Listed(
            run,
            status.status,
            cases=f"{len(status.cases)} of {len(plan.cases)}",
            why=why_and_what_to_do(run, status),
            target=_target(plan),
            tags=tags,
        )
        # As good as its worst case, which the analysis has found out.
        if status.status not in ("ok", "failed"):
            return begun
        begun = replace(begun, why="; ".join(filter(None, (begun.why, why_no_report(run)))))
        return _judged(begun, stored_document(run)) if status.status == "ok" else begun
    except CorruptRun as error:
        return Listed(run, "corrupt", why=str(error))


def _judged(begun: Listed, document: Document) -> Listed:
    marked, asked = ", ".join(document.marked), document.objectives
    outcome = NOTHING if asked is None else OUTCOME_WORDS[Outcome(asked)]
    return replace(
        begun,
        state=document.status,
        verdicts=(document.integrity, document.validity, outcome),
        why=begun.why or document.reason or (f"{document.status}: {marked}" if marked else ""),
        glances=document.glances,
    )


def verdict_tone(word: str) -> Tone:
    """Of any of the three."""
    return Tone.BAD if word == "missed" else Tone.GOOD if word in _GOOD else Tone.WARN


def age_text(seconds: float) -> str:
    """In the largest unit of which there is at least one."""
    for length, unit in _AGES:
        if seconds >= length:
            return f"{int(seconds / length)} {unit}"
    return "0 s"


def _target(plan: Plan) -> str:
    names = list(dict.fromkeys(target.name for case in plan.cases for target in case.targets))
    return ", ".join(names) if len(names) <= _MANY_TARGETS else f"{len(names)} targets"


def _range_text(values: Iterable[float | None], form: Callable[[float], str]) -> str:
    """Of all cases: from the least to the most."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    low, high = form(min(known)), form(max(known))
    return low if low == high else f"{low}–{high}"
