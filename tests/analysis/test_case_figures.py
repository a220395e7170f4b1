"""Figures of cases from small tables written by hand; how verdicts take them is in test_verdicts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.analysis.case_figures import Beside, Tables, case_figures
from streamgauge.analysis.joining.cells import CELLS
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.column import Table
from streamgauge.tables.results import (
    ACCOUNTING,
    CLOCKS,
    CPU,
    LATENCY,
    RESOURCES,
    THROUGHPUT,
)

from .recorded import CaseEvents

TABLES = {
    "accounting": ACCOUNTING,
    "latency": LATENCY,
    "throughput": THROUGHPUT,
    "cpu": CPU,
    "resources": RESOURCES,
    "clocks": CLOCKS,
}


def rows_of(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    schema = pa.schema([field.with_nullable(True) for field in table.arrow_schema()])
    return pa.Table.from_pylist([{"case": "001"} | row for row in rows], schema=schema)


def figures(status: CaseStatus | None = None, **rows: list[dict[str, Any]]) -> dict[str, Any]:
    plan = Plan(kind="e2e", run="r", name="n", cases=(CaseEvents("").planned("001"),))
    ended = RunStatus(cases={"001": status} if status is not None else {})
    tables = {name: rows_of(table, rows.get(name, [])) for name, table in TABLES.items()}
    [found] = case_figures(plan, ended, Tables(cells=CELLS.empty_table(), **tables), Beside({}, {}))
    return found


def test_a_case_of_which_nothing_is_known_has_a_row_too() -> None:
    found = figures()

    assert (found["case"], found["status"], found["status_reason"]) == (
        "001",
        "partial",
        "the case was not begun",
    )
    assert (found["sent"], found["measured"], found["received_medians_ms"]) == (0, 0, [])
    absent = ("lag_ms", "negative", "sent_range_s", "machine_share", "swapped_bytes", "clock_error_ms")
    assert [found[name] for name in absent] == [None] * len(absent)


def test_a_case_that_did_not_end_is_partial() -> None:
    assert figures(CaseStatus("running"))["status_reason"] == "the case did not end"
    assert figures(CaseStatus("ok"))["status"] == "ok"


def test_counts_are_of_both_phases_and_measured_of_one() -> None:
    counts = dict.fromkeys((c.name for c in ACCOUNTING.columns if c.kind == "int64"), 1)
    phases = [{"scope": "case", "phase": phase, **counts, "sent": 5} for phase in ("warm_up", "measure")]
    found = figures(accounting=[*phases, {"scope": "topic", "phase": "measure", **counts}])

    assert (found["sent"], found["measured"], found["lost_write"]) == (10, 5, 2)


def test_rates_of_seconds_are_of_whole_ones_and_a_second_of_nothing_is_one() -> None:
    received = {3: 20, 4: 100, 5: 110, 7: 90, 8: 40}
    rows = [
        {
            "scope": "second",
            "second": second,
            "sent_messages_per_s": 100.0 if second < 7 else 0.0,
            "acked_messages_per_s": 0.0,
            "received_messages_per_s": float(received.get(second, 0)),
        }
        for second in (8, 7, 5, 4, 3, 2)
    ]
    found = figures(throughput=rows)

    assert found["received_rates_per_s"] == [100, 110, 0, 90]
    assert found["sent_rates_per_s"] == [100] * 4
    assert found["acked_rates_per_s"] == []


def test_medians_come_in_order_with_their_slope() -> None:
    seconds = [
        {"scope": "second", "second": second, "leg": "intended_to_received", "p50": 10.0 + 2 * second}
        for second in (2, 0, 1)
    ]
    assert figures(latency=seconds)["received_medians_ms"] == [10.0, 12.0, 14.0]
    assert figures(latency=seconds)["drift_ms_per_s"] == pytest.approx(2.0)
    assert figures(latency=seconds[:2])["drift_ms_per_s"] is None


@pytest.mark.parametrize(
    ("counts", "known"),
    [((500, 2000, 2000, 1500), [2.0, 3.0, 4.0]), ((1000, 2000, 2000, 400), [1.0, 2.0, 3.0])],
)
def test_a_small_part_of_a_second_at_an_end_has_no_median_of_its_own(
    counts: tuple[int, ...], known: list[float]
) -> None:
    seconds = [
        {"scope": "second", "second": at, "leg": "intended_to_received", "p50": at + 1.0, "count": count}
        for at, count in enumerate(counts)
    ]
    assert figures(latency=seconds)["received_medians_ms"] == known


def test_machines_count_while_messages_were_sent() -> None:
    def used(at_s: float, host: str, cores: float, kind: str = "machine") -> dict[str, Any]:
        return {"at_s": at_s, "host": host, "kind": kind, "cores": 4, "cpu_cores": cores}

    sent = [{"scope": "second", "second": second, "sent_messages_per_s": 9.0} for second in (3, 4)]
    sent.append({"scope": "second", "second": 9, "sent_messages_per_s": 0.0})
    usage = [used(2.9, "a", 4.0), used(3.0, "a", 1.0), used(5.0, "a", 3.0), used(5.1, "a", 4.0)]
    usage += [used(4.0, "b", 1.0), used(4.0, "b", 0.5, kind="broker") | {"swapped_bytes_per_s": 7.0}]
    found = figures(throughput=sent, resources=usage)

    assert (found["machine_share"], found["broker_host_cores"], found["swapped_bytes"]) == (0.5, 4, 7.0)
    assert figures(resources=usage)["machine_share"] is None


def test_clocks_count_when_both_sides_were_read() -> None:
    read = [{"agent": agent, "error_ms": ms} for agent, ms in (("producer-0", 1.0), ("producer-1", 3.0))]

    assert figures(clocks=read)["clock_error_ms"] is None
    assert figures(clocks=[*read, {"agent": "consumer-0", "error_ms": 0.5}])["clock_error_ms"] == 3.5


def test_legs_to_the_brokers_stamp_may_be_below_zero() -> None:
    legs = [
        {"scope": "case", "leg": leg, "negative_count": 1, "p50": 1.0, "p99": 2.0, "count": 3}
        for leg in ("sent_to_broker", "intended_to_sent", "sent_to_acked")
    ]
    found = figures(latency=legs)

    assert (found["negative"], found["lag_ms"], found["ack_ms"], found["acked_count"]) == (2, 2.0, 1.0, 3)
