from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.workload import Workload


def workload(search: dict[str, Any], load: dict[str, Any] | None = None, **fields: Any) -> Workload:
    content = {
        "targets": [{"name": "sim", "driver": "simulated"}],
        "load": load or {"duration": "2s"},
        "search": {"slo": ["p99<20ms"], **search},
        **fields,
    }
    return parse(Workload, content, "test")


def test_a_search_is_written_as_it_is_read() -> None:
    written = dump_yaml(workload({"from": "2k/s", "within_percent": 5}))
    assert "p99<20ms" in written
    assert "from: 2000.0" in written


@pytest.mark.parametrize(
    ("search", "load", "fields", "why"),
    [
        ({"from": "10/s"}, None, {}, "fewer than 100 messages, too few"),
        ({"slo": []}, None, {}, "search.slo"),
        ({"slo": ["p99<1ms", "p99<2ms"]}, None, {}, "p99 has two objectives"),
        ({"from": "5k/s", "to": "1k/s"}, None, {}, "is above the highest rate"),
        ({"from": "0/s"}, None, {}, "search.from"),
        ({"factor": 1}, None, {}, "search.factor"),
        ({"within_percent": 0}, None, {}, "search.within_percent"),
        ({"time_limit": "0s"}, None, {}, "search.time_limit"),
        ({"steps": 3}, None, {}, "search.steps: unknown field"),
        ({}, {"messages": 100}, {}, "needs the `duration` of a step"),
        ({}, {"duration": "2s", "rate": "1k/s"}, {}, "no rate and no warm-up"),
        ({}, {"duration": "2s", "consumers": 0}, {}, "consumers` must not be 0"),
        ({}, None, {"sweep": {"acks": ["1"]}}, "`kind: limit` or `kind: sweep`"),
        ({}, None, {"kind": "limit", "iterations": 2}, "iterations: unknown field"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    search: dict[str, Any], load: dict[str, Any] | None, fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        workload(search, load, **fields)
