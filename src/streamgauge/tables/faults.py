"""Which counts of an accounting are faults, and what became of messages of which nothing was heard."""

from __future__ import annotations

from collections.abc import Mapping

FAULTS = ("failed", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected")
"""Counts that are zero when all is well."""

_OF_ACKS = ("failed", "lost_write", "unseen")
"""Faults that only producers who hear of their messages can know of."""

_OF_SENDING = ("failed",)
"""The only faults that can be seen without a consumer."""


NO_ACKS = "0"
"""Of `acks`: the client reports a message as delivered when it was written to a socket."""


def hears_of_messages(*, completions: bool, acks: str, has_consumers: bool) -> bool:
    """Whether anybody knows what became of a message: without acks that is for consumers to tell."""
    return completions and (acks != NO_ACKS or has_consumers)


def faults_checked(*, has_consumers: bool, has_completions: bool) -> tuple[str, ...]:
    """Nothing is said of what nobody looked at: arrivals without consumers, acks without reports."""
    known = FAULTS if has_consumers else _OF_SENDING
    return known if has_completions else tuple(name for name in known if name not in _OF_ACKS)


def without_outcome(counts: Mapping[str, int], *, has_consumers: bool, has_completions: bool) -> int:
    """Messages sent of which nothing was heard again: no ack, no failure, no copy.

    Both sides bound it: what the producer never heard of, and what no consumer saw or missed.
    """
    aborted = _aborted(counts)
    unanswered = counts["sent"] - counts["acked"] - counts["failed"] - aborted
    if not has_consumers and not has_completions:
        return 0  # nobody asked, neither here nor there
    if has_consumers:
        seen_or_missed = ("failed", "received", "lost_write", "unseen", "corrupt")
        unanswered = min(unanswered, counts["sent"] - aborted - sum(counts[name] for name in seen_or_missed))
    return max(0, unanswered)


def not_arrived_count(counts: Mapping[str, int], *, has_consumers: bool, has_completions: bool) -> int:
    """Without delivery reports nothing is known to be acknowledged; but what was sent is to arrive."""
    if has_completions or not has_consumers:
        return 0
    told = counts["failed"] + _aborted(counts) + counts["received"] + counts["corrupt"]
    return max(counts["sent"] - told, 0)


def _aborted(counts: Mapping[str, int]) -> int:
    """On purpose; results of older versions do not count them."""
    return counts.get("aborted") or 0
