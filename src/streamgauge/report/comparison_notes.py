"""What a reader has to know before believing a comparison; said at its top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamgauge.spec.comparison import Comparison

_SEED_FAULTS = (
    "Preset seed: the settings of the benchmark this comparison follows, with their known faults. "
    "fetch_min_bytes of 100,000 makes a consumer of less wait for the broker, 500 ms by default: such cells "
    "measure that wait and no library. A linger of 100 ms is cut short by the flush at the end of a "
    "test. acks=1 without idempotence promises less than either library's own defaults. "
    "Use --preset fair for a verdict on the libraries."
)


def notes_of(plan: Comparison, found: list[dict[str, Any]], *, mixed: bool) -> list[str]:
    """`mixed`: the libraries' loops ran on different engines."""
    return list(_notes(plan, found, mixed))


def _notes(plan: Comparison, found: list[dict[str, Any]], mixed: bool) -> Iterator[str]:
    tainted = sum(row["is_tainted"] for row in found)
    if tainted:
        yield (
            f"The A/A control failed in {tainted} of {len(found)} comparisons: A was found different from "
            "itself there, so something else than the library was measured. Their verdicts are marked."
        )
    if mixed:
        yield (
            "ENGINES DIFFER: one library's loop runs in the JVM, the other's in Python. This sets a "
            "transport against a Python application; it does not compare two libraries as used from Python."
        )
    if plan.preset == "seed":
        yield _SEED_FAULTS
    if plan.process == "shared":
        yield "All libraries share one process: threads of one may disturb the other."
    if plan.bursts is not None:
        yield (
            f"Bursts of {plan.bursts.length} messages with pauses of {plan.bursts.interval:g} s: pauses are "
            "not counted, but a library may work in them."
        )
    if plan.acks_in_force == "0":
        yield "acks=0: a message counts as produced when it was sent; only consuming tells if it arrived."
    if "consume" in plan.operations and not plan.check_on_consume:
        yield "Values were not checked while consuming; every message was counted by its key."
