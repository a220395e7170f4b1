from __future__ import annotations

import json
from typing import Any

import pytest

from streamgauge.importing.figures import NotThisFormat, ToolCase
from streamgauge.importing.omb_result import read_omb_result
from tests.importing.samples import OMB


def changed(**fields: Any) -> ToolCase:
    [case] = read_omb_result(json.dumps({**json.loads(OMB), **fields}))
    return case


def test_the_way_to_the_consumer_speaks_for_a_result() -> None:
    case = changed()
    assert [each.leg for each in case.latencies] == ["publish → receipt", "publish → ack", "due → publish"]
    assert case.latencies[0].percentiles == {"p50": 2.0, "p99": 6.5, "p99.9": 10.0}
    assert case.latencies[0].curve == [(0.0, 1.0), (0.5, 2.0), (0.99, 6.5), (1.0, 12.0)]
    assert case.rate_per_s == 2000.0
    assert case.bytes_per_s == 2000.0 * 1024
    assert case.failed_count == 0
    assert case.settings["message.size"] == 1024
    assert [each.second for each in case.intervals] == [0.0, 10.0]
    assert case.intervals[1].p99_ms == 7.0


def test_delays_are_told_in_microseconds_and_come_out_in_milliseconds() -> None:
    delay = changed().latencies[2]
    assert (delay.mean, delay.percentiles["p99"], delay.max) == (0.12, 0.9, 2.0)


def test_without_consumers_the_ack_speaks_for_it() -> None:
    case = changed(
        aggregatedEndToEndLatencyAvg=0.0, aggregatedEndToEndLatencyQuantiles={}, consumeRate=[0.0, 0.0]
    )
    assert case.latencies[0].leg == "publish → ack"
    assert case.rate_per_s == 2000.0


def test_how_many_failed_is_not_told_by_a_rate() -> None:
    assert changed(publishErrorRate=[0.0, 1.5]).failed_count is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OMB[:-40], "not valid JSON, or is cut off"),
        ("[1]", "a result has a field"),
        (json.dumps({**json.loads(OMB), "publishRate": 5}), "publishRate: must be a list"),
        (json.dumps({**json.loads(OMB), "publishRate": ["x"]}), "'x' is no number"),
        (json.dumps({**json.loads(OMB), "aggregatedEndToEndLatencyQuantiles": [1]}), "must be a mapping"),
    ],
)
def test_what_is_no_result_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(NotThisFormat, match=said):
        read_omb_result(text)
