"""Is every message of a case accounted for, and does the log keep its promises? Warm-up included: it must not
lose messages either. What no message shows by itself comes from the verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamgauge.core.findings import CaseVerification, FindingKind
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, cause, worst_integrity
from streamgauge.tables.faults import not_arrived_count, without_outcome

_VERDICTS = {
    CauseCode.LOST_WRITE: Integrity.LOST,
    CauseCode.UNSEEN: Integrity.LOST,
    CauseCode.CUT_BACK: Integrity.LOST,
    CauseCode.NOT_ARRIVED: Integrity.LOST,
    CauseCode.CORRUPT: Integrity.CORRUPT,
    CauseCode.FAILED: Integrity.FAILED,
    CauseCode.NO_OUTCOME: Integrity.NO_OUTCOME,
    CauseCode.UNEXPECTED: Integrity.UNEXPECTED,
    CauseCode.ABORTED_READ: Integrity.UNEXPECTED,
    CauseCode.INCONSISTENT_OFFSETS: Integrity.INCONSISTENT,
    CauseCode.DUPLICATE: Integrity.DUPLICATE,
    CauseCode.OUT_OF_ORDER: Integrity.OUT_OF_ORDER,
}
FATAL = (Integrity.LOST, Integrity.CORRUPT, Integrity.FAILED)
"""With one of these a case has failed; the others are marked."""


def integrity(
    counts: Mapping[str, int],
    *,
    has_consumers: bool,
    has_completions: bool,
    verified: CaseVerification | None = None,
) -> tuple[Integrity, list[Cause]]:
    """`counts`: a row of table `accounting`, of all phases together."""
    if not counts["sent"]:
        return Integrity.NOT_MEASURED, []
    causes = list(_causes(counts, has_consumers, has_completions, verified))
    if causes:
        return worst_integrity(_VERDICTS[found.code] for found in causes), causes
    return (Integrity.OK if has_consumers or has_completions else Integrity.NOT_CHECKED), []


def _causes(
    counts: Mapping[str, int],
    has_consumers: bool,
    has_completions: bool,
    verified: CaseVerification | None,
) -> Iterator[Cause]:
    not_arrived = not_arrived_count(counts, has_consumers=has_consumers, has_completions=has_completions)
    silent = without_outcome(counts, has_consumers=has_consumers, has_completions=has_completions)
    found = {
        CauseCode.NOT_ARRIVED: not_arrived,
        CauseCode.NO_OUTCOME: 0 if not_arrived else silent,
        **(_of_log(verified) if verified is not None else {}),
    }
    for code in _VERDICTS:
        count = found.get(code, counts.get(code.value, 0))
        if count:
            yield cause(code, message_count=count)


def _of_log(verified: CaseVerification) -> dict[CauseCode, int]:
    """What is gone is gone, whether the settings allowed it or not; of the rest, broken promises alone.

    A reader that goes back gets copies, or what is out of order: messages themselves tell of these."""
    broken = {found.kind: found.count for found in verified.findings if found.allowed_by is None}
    return {
        CauseCode.CUT_BACK: verified.cut_back,
        CauseCode.ABORTED_READ: broken.get(FindingKind.ABORTED_READ, 0),
        CauseCode.INCONSISTENT_OFFSETS: broken.get(FindingKind.INCONSISTENT_OFFSETS, 0),
    }
