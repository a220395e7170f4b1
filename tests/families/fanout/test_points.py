"""Points of a fan-out from planted events: what was lost, came twice or came from nowhere is found."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.analysis.clocks import clocks
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.families.fanout.clock_shifts import SHIFTS
from streamgauge.families.fanout.event_tables import CLIENTS, GENERATED, TRAFFIC, UPDATES
from streamgauge.families.fanout.figures_here import figures_here
from streamgauge.families.fanout.hosts import SHARES
from streamgauge.families.fanout.points import points
from streamgauge.families.fanout.result_tables import POINTS
from streamgauge.families.fanout.update_figures import UpdateFigures
from streamgauge.families.fanout.verdicts import judged_points
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.plan.warm_up_file import WarmUp, WarmUpEnding
from streamgauge.spec.workload import Workload
from streamgauge.tables.column import Column, Table
from streamgauge.tables.events import SAMPLES

MS, S = 10**6, 10**9
WALL = 1_700_000_000 * S
COUNT = 100
TRAFFIC_ROW = {"agent": "swarm-0", "sockets": 4, "seconds": 2.0, "received_bytes": 200_000, "sent_bytes": 100}


def frame(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    with_case = Table(table.name, table.row, (*table.columns, Column("case", "string", "case")))
    filled = [{"case": "001", **row} for row in rows]
    return pa.Table.from_pylist(filled, schema=with_case.arrow_schema())


def found_points(
    plan: Plan,
    status: RunStatus,
    updates: list[dict[str, Any]],
    clients: list[dict[str, Any]],
    samples: list[dict[str, Any]],
    *,
    sent: list[dict[str, Any]] | None = None,
    marks: list[dict[str, Any]] | None = None,
    floors: dict[str, float] | None = None,
) -> tuple[list[dict[str, Any]], UpdateFigures]:
    generated_ones = frame(GENERATED, sent or [generated(n) for n in range(COUNT)])
    figures = figures_here(
        [frame(UPDATES, updates)], generated_ones, SHIFTS.empty_table(), SHARES.empty_table()
    )
    rows = points(
        plan,
        status,
        figures,
        clients=frame(CLIENTS, clients),
        sent=generated_ones,
        traffic=frame(TRAFFIC, [TRAFFIC_ROW]),
        usage_samples=frame(SAMPLES, samples),
        clocks=clocks(marks or []),
        noise_floors_ms=floors or {},
    )
    return rows, figures


def generated(number: int) -> dict[str, Any]:
    due_ns = 5 * S + number * 10 * MS
    return {
        "stamp_ns": WALL + due_ns,
        "producer": 0,
        "key": number % 2,
        "size_bytes": 1000,
        "is_warm_up": number < 10,
        "intended_ns": due_ns,
        "sent_ns": due_ns + MS,
        "acked_ns": due_ns + 2 * MS,
        "error": None,
    }


def update(client: int, number: int, latency_ms: float = 4.0) -> dict[str, Any]:
    due_ns = 5 * S + number * 10 * MS
    return {"client": client, "stamp_ns": WALL + due_ns, "received_ns": due_ns + int(latency_ms * MS)}


def client(number: int, updates: int, *, is_measured: bool) -> dict[str, Any]:
    return {
        "client": number,
        "key": number % 2,
        "is_measured": is_measured,
        "updates": updates,
        "expected": COUNT // 2,
    }


def sample(kind: str, at_s: float, cpu_s: float, memory: int) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SAMPLES.column_names)
    about = {"at_ns": int(at_s * S), "source": f"{kind}-1", "kind": kind, "host": "h", "cores": 2}
    return {**row, **about, "cpu_s": cpu_s, "rss_bytes": memory}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    content = {
        "targets": [{"name": "gateway", "driver": "push_websocket"}],
        "fanout": {"clients": [4, 8, 16], "scenarios": ["2"]},
    }
    plan = make_plan(Workload.model_validate(content), "run")
    ended = {
        "001": CaseStatus("ok", "mean 4 ms", holds=True),
        "002": CaseStatus("ok", "3 updates are missing", holds=False),
        "003": CaseStatus("ok", "gateway did not hold at 8 clients", is_skipped=True),
    }
    whole = [update(0, n, 4.0 + n % 3) for n in range(0, COUNT, 2)]
    # Client 1 lacks two, has one twice, and one that nobody sent.
    odd = [n for n in range(1, COUNT, 2) if n not in (21, 41)]
    rough = [update(1, n) for n in [*odd, 31]] + [{**update(1, 1), "stamp_ns": 12345}]
    table, figures = found_points(
        plan,
        RunStatus(cases=ended),
        whole + rough,
        [
            client(0, 50, is_measured=True),
            client(1, 50, is_measured=True),
            client(2, 47, is_measured=False),
            client(3, 51, is_measured=False),
        ],
        [
            sample("broker", 1.0, 0.0, 900),  # before the first message
            *(sample("broker", at, at / 4, 100) for at in (5.1, 5.5, 5.9)),
            *(sample("gateway", at, at / 2, 200) for at in (5.1, 5.9)),
        ],
    )
    judged, causes = judged_points(table)
    assert all(set(POINTS.column_names) <= set(row) for row in judged)
    rows: dict[str, Any] = {row["case"]: row for row in judged}
    rows["causes"] = {(row["case"], row["verdict"], row["code"]): row for row in causes}
    rows["counts"] = {row["latency_ms"]: row["count"] for row in figures.counts.to_pylist()}
    return rows


def test_every_update_is_accounted_for(found: dict[str, Any]) -> None:
    row = found["001"]
    assert (row["messages"], row["expected"], row["received"]) == (100, 200, 198)
    assert row["missing"] == 2 + 3, "two by name, three by count"
    assert row["duplicate"] == 1 + 1
    assert row["unexpected"] == 1
    assert row["measured_clients"] == 2


def test_latency_is_of_measured_clients_without_the_warm_up(found: dict[str, Any]) -> None:
    row = found["001"]
    assert row["samples"] == 45 + 44
    assert (row["min_ms"], row["max_ms"]) == (4.0, 6.0)
    assert row["mean_ms"] == pytest.approx((44 * 4 + sum(4 + n % 3 for n in range(10, 100, 2))) / 89)
    assert sum(found["counts"].values()) == 89


def test_traffic_and_use(found: dict[str, Any]) -> None:
    row = found["001"]
    assert row["to_clients_bits_per_s"] == 8 * 200_000 / 2
    assert row["from_clients_bits_per_s"] == 8 * 100 / 2
    assert row["bytes_per_client"] == 50_000
    assert row["broker_cpu_cores"] == pytest.approx(0.25)
    assert row["gateway_cpu_cores"] == pytest.approx(0.5)
    assert row["broker_memory_bytes"] == 100, "what came before the first message does not count"
    assert row["swarm_cpu_cores"] is None
    assert row["rate_per_s"] == pytest.approx(100.0)


def test_marks(found: dict[str, Any]) -> None:
    # The first was told to hold, by counts; by names it lacks some.
    assert [found[case]["holds"] for case in ("001", "002", "003")] == [False, False, None]
    assert [found[case]["status"] for case in ("001", "002", "003")] == ["ok", "ok", "not run"]
    assert found["003"]["samples"] == 0


def test_both_verdicts_and_why(found: dict[str, Any]) -> None:
    verdicts = {case: (found[case]["integrity"], found[case]["validity"]) for case in ("001", "003")}
    assert verdicts == {"001": ("lost", "invalid"), "003": ("not_measured", "not_measured")}
    said = found["causes"]
    assert said["001", "integrity", "missing"]["value"] == 5
    assert said["001", "integrity", "duplicate"]["value"] == 2
    assert ("001", "validity", "too_few_messages") in said
    assert said["003", "note", "skipped"]["text"] == "gateway did not hold at 8 clients"


@pytest.mark.parametrize("told", [None, True])
@pytest.mark.parametrize(
    ("mean_ms", "missing", "holds"), [(4.0, 0, True), (6000.0, 0, False), (4.0, 1, False)]
)
def test_whether_a_point_holds_is_told_by_the_figures_that_are_shown(
    found: dict[str, Any], told: bool | None, mean_ms: float, missing: int, holds: bool
) -> None:
    row = found["001"] | {"holds": told, "mean_ms": mean_ms, "missing": missing}
    [judged], _ = judged_points([row])
    assert judged["holds"] is holds


def test_a_point_that_never_came_to_rest_is_not_to_be_quoted(found: dict[str, Any]) -> None:
    assert ("001", "validity", "never_settled") not in found["causes"]
    [judged], causes = judged_points([found["001"] | {"rested": False}])
    assert judged["validity"] == "invalid"
    assert "never_settled" in {row["code"] for row in causes if row["verdict"] == "validity"}


def test_how_its_warm_up_ended_is_known_of_a_case() -> None:
    content = {"targets": [{"name": "g", "driver": "push_websocket"}], "fanout": {"clients": [4, 8, 16]}}
    plan = make_plan(Workload.model_validate(content), "run")
    ends = [None, WarmUpEnding.AT_REST, WarmUpEnding.LIMIT]
    cases = [
        case.model_copy(update={"warm_up": end and WarmUp(ended=end, seconds=4, messages={0: 16})})
        for case, end in zip(plan.cases, ends, strict=True)
    ]
    rows, _ = found_points(plan.model_copy(update={"cases": cases}), RunStatus(), [], [], [])
    assert [row["rested"] for row in rows] == [None, True, False]


def test_what_conflation_left_out_is_not_missing() -> None:
    content = {
        "targets": [{"name": "gateway", "driver": "push_websocket"}],
        "fanout": {"clients": [3], "scenarios": ["2"], "max_frequency": 1},
    }
    plan = make_plan(Workload.model_validate(content), "run")
    clients = [client(0, 10, is_measured=True), client(1, 20, is_measured=False)]
    [row], _ = found_points(
        plan,
        RunStatus(cases={"001": CaseStatus("ok", holds=True)}),
        [update(0, n) for n in range(0, COUNT, 10)],
        [*clients, client(2, 0, is_measured=False)],
        [sample("broker", 5.1, 0.0, 100)],
    )
    assert (row["expected"], row["received"], row["conflated"]) == (150, 30, 40 + 30 + 49)
    assert row["missing"] == 1, "conflation never leaves out all"
