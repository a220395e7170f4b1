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
    assert "objectives:\n- p99<20ms" in written
    assert "slo" not in written
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
        ({"slo": ["valid"]}, None, {}, "is known at the end of the run"),
        ({}, None, {"objectives": ["p99<1s"]}, "objectives: `search.slo` says others"),
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


def test_objectives_are_what_is_searched_by_and_valid_is_asked_at_the_end() -> None:
    content = {
        "kind": "limit",
        "targets": [{"name": "sim", "driver": "simulated"}],
        "load": {"duration": "2s"},
        "search": {},
        "objectives": ["p99.99<20ms", "valid"],
    }
    found = parse(Workload, content, "test")
    assert [str(each) for each in found.objectives] == ["p99.99<20ms", "valid"]
    assert [str(each) for each in found.search.slo] == ["p99.99<20ms"]  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match="objectives: a search needs an objective on a figure of a step"):
        parse(Workload, {**content, "objectives": ["valid"]}, "test")
