from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.families.fanout.event_tables import GENERATED
from streamgauge.families.fanout.sending import planned_messages, sending_of
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

MS, S = 10**6, 10**9


def sent_at(due_ms: int, late_ms: int = 0, **more: Any) -> dict[str, Any]:
    times = {"intended_ns": due_ms * MS, "sent_ns": (due_ms + late_ms) * MS, "acked_ns": (due_ms + 9) * MS}
    about = {"case": "001", "stamp_ns": due_ms, "producer": 0, "key": 0, "size_bytes": 1, "is_warm_up": False}
    return {**about, **times, **more}


def sending(*rows: dict[str, Any]) -> dict[str, Any]:
    schema = GENERATED.arrow_schema().append(pa.field("case", pa.string()))
    return sending_of(pa.Table.from_pylist(list(rows), schema=schema)).get("001", {})


def test_the_rate_of_what_counts_is_its_own() -> None:
    ahead = [sent_at(at, is_warm_up=True) for at in range(0, 1000, 10)]
    found = sending(*ahead, *(sent_at(1000 + at, late_ms=at) for at in range(0, 1000, 100)))
    assert (found["messages"], found["measured_messages"]) == (110, 10)
    assert found["begin_ns"] == S
    assert (found["sent_range_s"], found["intended_range_s"]) == (pytest.approx(1.8), pytest.approx(0.9))
    assert found["sent_messages_per_s"] == pytest.approx(9 / 1.8)
    assert found["lag_p99_ms"] == pytest.approx(0.99 * 9 * 100)


def test_what_kafka_did_not_take_was_sent_all_the_same() -> None:
    found = sending(sent_at(0), sent_at(100, acked_ns=None, error="no"), sent_at(200))
    assert (found["messages"], found["measured_messages"]) == (2, 3)
    assert found["rate_per_s"] == pytest.approx(5.0)
    assert found["sent_messages_per_s"] == pytest.approx(10.0)
    assert sending(sent_at(0))["sent_messages_per_s"] is None, "one message has no rate"


@pytest.mark.parametrize("warm_up", ["auto", 3])
def test_so_many_were_to_count_however_long_the_warm_up(warm_up: Any) -> None:
    content = {
        "targets": [{"name": "g", "driver": "push_websocket"}],
        "fanout": {"clients": [4], "producers": 10, "pause": 0.1, "duration": 5, "warm_up": warm_up},
    }
    assert planned_messages(make_plan(Workload.model_validate(content), "run")) == {"001": 500}
