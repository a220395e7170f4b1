"""What came of one timed operation: every message accounted for, after the time has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from streamgauge.drivers.contract import Acks
from streamgauge.families.compare.ordinal_messages import Count, OrdinalMessages
from streamgauge.families.compare.timing import Stopwatch


@dataclass(frozen=True)
class Outcome:
    started_ns: int
    elapsed_ns: int
    cpu_ns: int
    seen: int
    """Messages acked or received, each counted once."""
    duplicate: int = 0
    corrupt: int | None = None
    """None: not checked."""
    error: str | None = None
    counters: Mapping[str, int] = field(default_factory=dict)


def produced(
    watch: Stopwatch, told: list[Acks], messages: OrdinalMessages, counters: Mapping[str, int]
) -> Outcome:
    """By the ordinals of what was acked."""
    numbers = np.concatenate([acks.sequences for acks in told]) if told else np.zeros(0, np.int64)
    failed = {sequence: why for acks in told for sequence, why in acks.errors.items()}
    counted = messages.count_ordinals(numbers[~np.isin(numbers, list(failed))])
    error = None
    if counted.seen < messages.count:
        why = next(iter(failed.values()), "nothing was heard of them")
        error = f"{messages.count - counted.seen} of {messages.count} messages were not acked: {why}"
    return _outcome(watch, counted, error, counters)


def consumed(
    watch: Stopwatch,
    messages: OrdinalMessages,
    keys: list[list[bytes | None]],
    wrong: int | None,
    counters: Mapping[str, int],
) -> Outcome:
    """By the keys of what came; `wrong`: how many values were, None when nobody looked."""
    counted = messages.count_keys(keys)
    corrupt = counted.strange if wrong is None else max(wrong, counted.strange)
    error = None
    if counted.seen < messages.count:
        error = f"{messages.count - counted.seen} of {messages.count} messages did not come"
    elif corrupt:
        error = f"{corrupt} records are not what was sent"
    is_known = wrong is not None or corrupt > 0
    return _outcome(watch, counted, error, counters, corrupt if is_known else None)


def _outcome(
    watch: Stopwatch,
    counted: Count,
    error: str | None,
    counters: Mapping[str, int],
    corrupt: int | None = None,
) -> Outcome:
    return Outcome(
        watch.started_ns,
        watch.elapsed_ns,
        watch.cpu_ns,
        seen=counted.seen,
        duplicate=counted.duplicate,
        corrupt=corrupt,
        error=error,
        counters=counters,
    )
