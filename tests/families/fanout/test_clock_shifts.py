"""Clocks that drift while a point is measured: every latency is what it was, by the launcher's clock."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamgauge.families.fanout.clock_shifts import right_generated, shift_rows, shifts
from streamgauge.families.fanout.figures_by_spark import right_updates
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

MS, S = 10**6, 10**9
WORKLOAD = {
    "targets": [{"name": "gateway", "driver": "push_websocket"}],
    "fanout": {"clients": [10], "scenarios": ["2"], "gateway_hosts": ["g1"], "swarm_hosts": ["s1", "s2"]},
}
DRIFT = 100e-6
TOOK_NS = 3 * MS


def clock_of(agent: str, offset_ns: int, drift: float) -> list[dict[str, Any]]:
    """It was read exactly, once at the start and once ten seconds later."""
    about = {"case": "001", "agent": agent, "host": f"clock of {agent}", "reference_error_ns": 0}
    start = {**about, "mark": "start", "at_ns": 0, "reference_offset_ns": offset_ns}
    read = [
        {**about, "mark": "clock", "at_ns": at_ns, "reference_offset_ns": round(offset_ns + drift * at_ns)}
        for at_ns in (0, 10 * S)
    ]
    return [start, *read]


MARKS = [
    *clock_of("producer-0", 200 * MS, DRIFT),
    *clock_of("swarm-0", -200 * MS, -DRIFT),
    {
        "case": "001",
        "agent": "swarm-1",
        "host": "the launcher's",
        "mark": "start",
        "at_ns": 0,
        "reference_offset_ns": 0,
    },
]


def written_ns(true_ns: int, offset_ns: int, drift: float) -> int:
    """As an agent writes a time: by its clock, and what was known of that at the start."""
    local_ns = round((true_ns - offset_ns) / (1 + drift))
    return local_ns + offset_ns


def test_only_clocks_that_were_read_are_shifted() -> None:
    assert set(shifts(MARKS)) == {("001", "producer-0"), ("001", "swarm-0")}
    plan = make_plan(Workload.model_validate(WORKLOAD), "run")
    [row] = shift_rows(plan, MARKS).to_pylist()
    assert (row["of_case"], row["first"], row["end"], row["shift_ns"]) == ("001", 0, 5, 0)
    assert row["drift"] == pytest.approx(-DRIFT, rel=1e-3)


@pytest.mark.spark
def test_latencies_are_true_at_the_end_too(spark: SparkSession) -> None:
    due_ns = [S, 5 * S, 9 * S]
    sent = pa.table(
        {
            "case": ["001"] * 3,
            "intended_ns": [written_ns(due, 200 * MS, DRIFT) for due in due_ns],
            "sent_ns": [written_ns(due, 200 * MS, DRIFT) for due in due_ns],
            "acked_ns": pa.array([written_ns(due_ns[0], 200 * MS, DRIFT), None, None], pa.int64()),
        }
    )
    right = right_generated(sent, MARKS).to_pydict()
    assert right["intended_ns"] == pytest.approx(due_ns, abs=2)
    assert right["acked_ns"][1:] == [None, None]
    plan = make_plan(Workload.model_validate(WORKLOAD), "run")
    rows = [
        {
            "case": "001",
            "client": client,
            "received_ns": written_ns(due + TOOK_NS, *((-200 * MS, -DRIFT) if client == 4 else (0, 0))),
        }
        for client in (4, 5)
        for due in due_ns
    ]
    frames = spark.createDataFrame(pa.Table.from_pylist(rows)), spark.createDataFrame(shift_rows(plan, MARKS))
    found = right_updates(*frames).orderBy("client", "received_ns").toArrow().to_pylist()
    assert [row["received_ns"] for row in found] == pytest.approx(
        [due + TOOK_NS for _ in (4, 5) for due in due_ns], abs=2
    )
    assert set(found[0]) == {"case", "client", "received_ns"}


def test_where_all_share_a_clock_nothing_is_touched() -> None:
    sent = pa.table({"case": ["001"], "intended_ns": [7], "sent_ns": [7], "acked_ns": [7]})
    assert right_generated(sent, MARKS[-1:]) is sent
