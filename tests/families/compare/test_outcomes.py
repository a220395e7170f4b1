from __future__ import annotations

import pytest

from streamgauge.core.verdicts import Validity
from streamgauge.families.compare.outcomes import METRICS, known_of
from streamgauge.report.document import ValidityVerdict
from streamgauge.report.outcomes import outcomes_of
from streamgauge.spec.objective import read_objective

ROW = {
    "ratio_percent": {"median": 90.0},
    "interval_percent": [85.0, 96.0],
    "a": {"median_us": 900.0, "mean_us": 950.0, "max_us": 5000.0},
    "b": {"median_us": 1000.0, "mean_us": 1050.0, "max_us": None},
    "accounting": {"missing": 0, "duplicate": 2, "corrupt": None, "failed": 0},
}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("ratio<100%", "met"),
        ("ratio<95%", "not_decidable"),
        ("ratio<=80%", "missed"),
        ("ratio>=80%", "met"),
        ("a_median<1ms", "met"),
        ("b_mean<1ms", "missed"),
        ("b_max<1s", "not_decidable"),
        ("lost=0", "met"),
        ("duplicates=0", "missed"),
        ("corrupt=0", "not_decidable"),
        ("errors=0", "met"),
    ],
)
def test_figures_of_a_comparison(text: str, outcome: str) -> None:
    objective = read_objective(text, METRICS)
    valid = ValidityVerdict(verdict=Validity.VALID)
    [found] = outcomes_of([objective], lambda each: known_of(ROW, each), valid)
    assert found.outcome == outcome


def test_messages_of_a_comparison_have_no_latencies_of_their_own() -> None:
    with pytest.raises(ValueError, match="there is no figure 'p99'; allowed: ratio, a_median, "):
        read_objective("p99<1s", METRICS)
