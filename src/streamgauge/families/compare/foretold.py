"""What is known of a comparison before it begins."""

from __future__ import annotations

from streamgauge.families.compare.paired_ratio import fewest_for_a_verdict
from streamgauge.families.compare.planned_comparison import TEMPERATURES
from streamgauge.families.compare.section import Comparison


def too_few_repetitions(comparison: Comparison) -> tuple[str, ...]:
    """Said before the start: afterwards an hour has gone."""
    cells = len(comparison.lengths) * len(comparison.messages)
    tests = cells * len(comparison.operations) * len(TEMPERATURES)
    needed = fewest_for_a_verdict(tests)
    if comparison.until_decided or comparison.repeat >= needed:
        return ()
    return (
        f"{comparison.repeat} repetitions cannot show a difference in {tests} comparisons at once, whatever "
        f"they find: --repeat {needed} could, or --until-decided, or fewer lengths and messages; all will be "
        "inconclusive or equivalent",
    )
