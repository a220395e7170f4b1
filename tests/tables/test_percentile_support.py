from __future__ import annotations

from streamgauge.tables.percentile_support import fewest_messages, is_supported
from streamgauge.tables.results import PERCENTILES


def test_ten_messages_lie_beyond_a_percentile_that_is_shown_as_known() -> None:
    needed = {name: fewest_messages(name) for name in PERCENTILES}
    assert needed == {
        "p25": 40,
        "p50": 20,
        "p75": 40,
        "p90": 100,
        "p95": 200,
        "p98": 500,
        "p99": 1000,
        "p99_9": 10_000,
    }


def test_only_percentiles_need_support() -> None:
    assert is_supported("max", 1)
    assert is_supported("p99", 1000)
    assert not is_supported("p99", 999)
