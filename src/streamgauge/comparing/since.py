"""What is different from the last run of the same workload, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice

from streamgauge.comparing.between_runs import spread_for
from streamgauge.comparing.differences import run_difference
from streamgauge.comparing.document import DiffVerdict, RunDifference
from streamgauge.comparing.histories import same_workload, share_settings
from streamgauge.comparing.measured import MeasuredRun, case_settings, measured_run
from streamgauge.comparing.ratio import CONFIDENCE
from streamgauge.comparing.series import is_of
from streamgauge.comparing.show import VERDICT_TONES, VERDICT_WORDS, interval_words, settings_words
from streamgauge.core.errors import BadInput, CorruptRun, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.cause_words import cause_text
from streamgauge.report.document import Document
from streamgauge.report.medium import Tone
from streamgauge.report.results import stored_document
from streamgauge.report.shown import Said

_MESSAGES_AT_MOST = 20_000_000
"""Every message of this run is read, once: of more than these `streamgauge diff` is to be asked."""
_NAMED_AT_MOST = 50
"""Runs of the same name that are looked at for their settings."""
_READ_AT_MOST = 3
"""Of these, whose figures are read: one is enough, unless it cannot be read."""
_TOLD_AT_MOST = 4


def since_last(run: RunDir, document: Document, runs: Iterable[RunDir]) -> Said | None:
    """None: there is no earlier run of the same workload and settings, or its family has no such figures."""
    beside = [each for each in runs if each.id < run.id]
    candidates = _candidates(document, beside)
    newest = next(candidates, None)
    if newest is None or _message_count(document) > _MESSAGES_AT_MOST:
        return None
    try:
        new = measured_run(run)
    except (BadInput, CorruptRun):
        return None
    base = next(_same(new, chain([newest], candidates)), None)
    if base is None:
        return None
    spread = spread_for([base], [[new]], beside)
    return _said(base, run_difference([base], [new], CONFIDENCE, spread))


def _candidates(document: Document, beside: Sequence[RunDir]) -> Iterator[RunDir]:
    """The newest first. Runs of one name may have other settings by turns, so it goes on past these; what was
    stored tells them, and no message is read for it."""
    wanted = document.name, document.kind
    named = (each for each in reversed(beside) if is_of(each, wanted))
    like = (each for each in islice(named, _NAMED_AT_MOST) if _may_be_like(each, document))
    return islice(like, _READ_AT_MOST)


def _may_be_like(run: RunDir, document: Document) -> bool:
    if not isinstance(document, CasesDocument):
        return True
    try:
        found = stored_document(run)
    except StreamgaugeError:
        return False
    return isinstance(found, CasesDocument) and share_settings(
        *([case_settings(case) for case in each.cases] for each in (document, found))
    )


def _same(new: MeasuredRun, candidates: Iterable[RunDir]) -> Iterator[MeasuredRun]:
    for each in candidates:
        with suppress(BadInput, CorruptRun):
            yield from same_workload([measured_run(each)], new)


def _message_count(document: Document) -> int:
    if not isinstance(document, CasesDocument):
        return 0
    return sum(case.accounting.sent for case in document.cases)


def _said(base: MeasuredRun, found: RunDifference) -> Said:
    begin = f"Since the last run with these settings ({base.id}): "
    told = {
        verdict: [
            f"{each.metric} {each.ratio:.2f}× ({interval_words(each.interval)})"
            + ("" if len(found.cases) == 1 else f" of {settings_words(case.settings)}")
            for case in found.cases
            for each in case.metrics
            if each.verdict is verdict and each.ratio is not None
        ]
        for verdict in (DiffVerdict.SLOWER, DiffVerdict.FASTER)
    }
    parts = [f"{VERDICT_WORDS[verdict]}: {_some(items)}" for verdict, items in told.items() if items]
    if parts:
        tones = [VERDICT_TONES[verdict] for verdict, items in told.items() if items]
        return Said(f"{begin}{'; '.join(parts)}.", tones[0] if len(tones) == 1 else Tone.WARN)
    if found.count(DiffVerdict.NO_DIFFERENCE_SEEN):
        return Said(f"{begin}{VERDICT_WORDS[DiffVerdict.NO_DIFFERENCE_SEEN]}.", Tone.QUIET)
    why = next((cause for case in found.cases for each in case.metrics for cause in each.causes), None)
    reason = "" if why is None else f": {why.about or 'both'}: {cause_text(why)}"
    return Said(f"{begin}a difference may not be called{reason}.", Tone.QUIET)


def _some(items: list[str]) -> str:
    more = len(items) - _TOLD_AT_MOST
    return ", ".join(items[:_TOLD_AT_MOST]) + (f" and {more} more" if more > 0 else "")
