from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.core.verdicts import Validity
from streamgauge.families.fanout.outcomes import METRICS, known_of
from streamgauge.families.fanout.result_tables import LATENCY_COUNTS
from streamgauge.report.document import ValidityVerdict
from streamgauge.report.outcomes import outcomes_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.objective import read_objective

POINT: dict[str, Any] = {
    "case": "001",
    "holds": True,
    "rate_per_s": 4.0,
    "samples": 20_000,
    "accounting": {"messages": 100, "missing": 0, "duplicate": 1, "unexpected": 0},
    "latency_ms": {"mean": 3.5, "p50": 3.2, "p99": 8.0, "max": 40.0},
}
TABLES = ResultTables(
    {
        "latency_counts": pa.table(
            {"case": ["001", "001"], "latency_ms": [3, 8], "count": [19_900, 100]},
            schema=LATENCY_COUNTS.arrow_schema(),
        )
    }
)


def outcome(text: str, **changed: Any) -> str:
    valid = ValidityVerdict(verdict=Validity.VALID)
    objective = read_objective(text, METRICS)
    [found] = outcomes_of([objective], lambda each: known_of(POINT | changed, TABLES, each), valid)
    return found.outcome.value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99<8.5ms", "met"),
        ("mean<3ms", "missed"),
        ("max<1s", "met"),
        # Not among those that are shown: known to a millisecond.
        ("p40<5ms", "met"),
        ("p40<3.5ms", "not_decidable"),
        ("p40<3ms", "missed"),
        ("p99.99<1s", "not_decidable"),
        ("lost=0", "met"),
        ("duplicate=0", "missed"),
        ("rate>=4/s", "met"),
        ("holds", "met"),
    ],
)
def test_figures_of_a_point(text: str, said: str) -> None:
    assert outcome(text) == said


def test_of_a_point_that_did_not_run_nothing_is_known() -> None:
    nothing = {"accounting": dict.fromkeys(POINT["accounting"], 0), "samples": 0}
    for text in ("p99<1s", "p40<1s", "lost=0", "rate>=1/s", "holds"):
        assert outcome(text, **nothing, holds=None, rate_per_s=None) == "not_decidable"
    assert outcome("holds", holds=False) == "missed"


def test_a_share_of_a_rate_is_no_figure_of_it() -> None:
    with pytest.raises(ValueError, match="is not a rate"):
        read_objective("rate>=95%", METRICS)
