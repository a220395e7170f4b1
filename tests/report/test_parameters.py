from __future__ import annotations

from typing import Any

import pytest

from streamgauge.plan.plan_file import make_plan
from streamgauge.report.parameters import Parameters, effective_parameters, load_sentence, swept_text
from streamgauge.spec.workload import Workload


def _parameters(load: dict[str, Any], **rest: Any) -> Parameters:
    content = {"targets": [{"name": "t", "driver": "simulated"}], "load": load, **rest}
    case = make_plan(Workload.model_validate(content), "r").cases[0]
    return Parameters.model_validate(effective_parameters(case))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"messages": 1000, "rate": "10k/s"}, "1,000 messages at 10,000/s · 700 B"),
        ({"duration": "30s"}, "30 s as fast as possible"),
        ({"rate": [{"rate": 100, "for": "2s"}]}, "200 messages in steps of 100/s for 2 s"),
        ({"messages": 1, "message": {"size": {"lines_of": "/data/lines"}}}, "lines of /data/lines"),
        (
            {"messages": 1, "message": {"size": {"distribution": "uniform", "min": 100, "max": 2048}}},
            "uniform 100 B to 2.0 KiB",
        ),
        ({"messages": 9, "topics": {"count": 3}, "compression": "lz4"}, "3 topics · 1 partition × 1 replica"),
        ({"messages": 9, "warm_up_messages": 5}, "acks all · warm-up 5"),
        (
            {"streams": "per_partition", "messages": 9, "topics": {"partitions": 3}, "consumers": 2},
            "3 producer/consumer pairs in 1 + 2 processes · 9 messages",
        ),
        (
            {"streams": "per_partition", "messages": 9, "topics": {"partitions": 3}, "consumers": 0},
            "3 producers in 1 process · 9 messages",
        ),
        ({"messages": 9, "completions": False}, "no delivery reports"),
        ({"messages": 9, "transactions": {"messages": 50}}, "transactions of 50 messages"),
    ],
)
def test_the_load_in_one_line(load: dict[str, Any], words: str) -> None:
    assert words in load_sentence(_parameters(load))


def test_swept_fields_name_the_case() -> None:
    parameters = _parameters({"messages": 10}, sweep={"message.size": ["1KiB"], "acks": ["1"]})
    assert swept_text(parameters) == "message.size=1KiB acks=1"
    assert parameters.message_size == 1024
    assert swept_text(_parameters({"messages": 10})) == ""
