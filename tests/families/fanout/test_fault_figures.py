"""What a fault of a gateway cost: by hand, of a few clients and messages."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from streamgauge.analysis.fault_costs import FaultCosts
from streamgauge.analysis.fault_figures import FIGURES, late_over_ms
from streamgauge.analysis.joining.columns import integers
from streamgauge.core.fault_figures import FaultEffects
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.event_tables import CLIENTS, NO_KEY, OUTAGES, UPDATES
from streamgauge.families.fanout.fault_figures import due_updates, fanout_fault_figures, outage_effects
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.workload import Workload

S, MS = 1_000_000_000, 1_000_000


def sent(*keys: int) -> pa.Table:
    """One a second, from 1 s on; its stamp is its number."""
    seconds = range(1, len(keys) + 1)
    return pa.table(
        {
            "stamp_ns": list(seconds),
            "key": list(keys),
            "intended_ns": [second * S for second in seconds],
            "acked_ns": [second * S + MS for second in seconds],
            "error": pa.nulls(len(keys), pa.string()),
        }
    )


def clients(**keys: int) -> pa.Table:
    return pa.table({"client": [int(name[1:]) for name in keys], "key": list(keys.values())})


def updates(*rows: tuple[int, int, int]) -> pa.Table:
    """Client, stamp, received."""
    names = ("client", "stamp_ns", "received_ns")
    return pa.table(
        {name: pa.array([row[place] for row in rows], pa.int64()) for place, name in enumerate(names)}
    )


def record(began_s: float) -> FaultRecord:
    return FaultRecord(kind="gateway_restart", planned_at_s=0, target="gateway", began_ns=int(began_s * S))


def test_to_each_client_its_key_is_due_and_to_who_has_none_everything() -> None:
    came = updates((7, 1, S + MS), (9, 2, 2 * S + 3 * MS), (9, 2, 2 * S + 2 * MS), (9, 99, 5 * S))

    due = due_updates(sent(0, 1), clients(c9=NO_KEY, c7=0), came)

    assert due.sort_by([("intended_ns", "ascending"), ("received_count", "ascending")]).select(
        ["intended_ns", "received_ns", "received_count"]
    ).to_pylist() == [
        {"intended_ns": S, "received_ns": None, "received_count": 0},
        {"intended_ns": S, "received_ns": S + MS, "received_count": 1},
        {"intended_ns": 2 * S, "received_ns": 2 * S + 2 * MS, "received_count": 2},
    ]


def test_nothing_sent_or_nobody_measured_is_nothing_due() -> None:
    assert due_updates(sent(), clients(c1=NO_KEY), updates()).num_rows == 0
    assert due_updates(sent(NO_KEY), clients(), updates((1, 1, S))).num_rows == 0
    assert due_updates(sent(NO_KEY), clients(c1=NO_KEY), updates())["received_count"].to_pylist() == [0]


def test_what_was_missed_is_charged_to_the_fault_and_it_is_over_when_all_comes_again() -> None:
    came = [(1, stamp, stamp * S + MS) for stamp in (1, 2, 3, 6, 7, 8)]
    due = due_updates(sent(*[NO_KEY] * 8), clients(c1=NO_KEY), updates(*came))
    before = due.slice(0, 3)
    late_ms = late_over_ms(integers(before, "received_ns") - integers(before, "intended_ns"))
    costs = FaultCosts([record(3.5)], late_ms)
    costs.add(due)

    [found] = costs.figures(start_ns=S)

    assert late_ms == 10.0
    assert (found.lost_count, found.late_count, found.duplicate_count) == (2, 0, 0)
    assert found.detect_s == pytest.approx(0.51)
    assert found.recover_s == pytest.approx(1.51)
    assert found.is_recovered


def test_a_session_that_was_lost_is_the_last_faults_that_had_begun() -> None:
    outages = pa.table(
        {
            "client": [1, 2, 3, 1],
            "lost_ns": [4 * S, 4 * S, 4 * S, 9 * S],
            "back_ns": [5 * S, 6 * S, None, 10 * S],
        },
        schema=OUTAGES.arrow_schema(),
    )
    undone = FaultRecord(kind="gateway_restart", planned_at_s=0)

    assert outage_effects([record(3.5), undone, record(8)], outages) == [
        FaultEffects(sessions_lost_count=3, sessions_back_count=2, sessions_back_after_s=2.5),
        None,
        FaultEffects(sessions_lost_count=1, sessions_back_count=1, sessions_back_after_s=2.0),
    ]
    assert outage_effects([record(1)], OUTAGES.arrow_schema().empty_table()) == [
        FaultEffects(sessions_lost_count=0, sessions_back_count=0)
    ]


def test_of_a_run_it_is_written_by_case_and_of_one_without_faults_nothing_is(tmp_path: Path) -> None:
    run, plan = RunDir.create(str(tmp_path), "run"), planned()
    files = EventFiles(run, "001", "swarm-0")
    measured = {"key": NO_KEY, "updates": 8, "expected": 8}
    files.write_rows(
        CLIENTS,
        [
            {"client": 1, "is_measured": True, **measured},
            {"client": 2, "is_measured": False, **measured},
        ],
    )
    came = [(1, stamp, stamp * S + MS) for stamp in (1, 2, 3, 6, 7, 8)]
    files.write_rows(
        UPDATES, [{"client": client, "stamp_ns": stamp, "received_ns": at} for client, stamp, at in came]
    )
    files.write_rows(OUTAGES, [{"client": 2, "lost_ns": 4 * S, "back_ns": 5 * S}])
    messages = sent(*[NO_KEY] * 8)
    messages = messages.append_column("case", pa.array(["001"] * 8))
    # The first is of the warm-up.
    messages = messages.append_column("is_warm_up", pa.array([True] + [False] * 7))

    fanout_fault_figures(run, plan, messages, {"001": S})
    assert not run.has(run.fault_figures)
    hit = [case.model_copy(update={"faults": (record(3.5),)}) for case in plan.cases]
    fanout_fault_figures(run, plan.model_copy(update={"cases": tuple(hit)}), messages, {"001": S})

    [found] = FIGURES.validate_json(run.read_text(run.fault_figures))["001"]
    assert (found.kind, found.target, found.began_s) == ("gateway_restart", "gateway", 2.5)
    assert (found.lost_count, found.late_over_ms) == (2, 10.0)
    assert found.effects == FaultEffects(
        sessions_lost_count=1, sessions_back_count=1, sessions_back_after_s=1.5
    )


def planned() -> Plan:
    content = {
        "kind": "fanout",
        "targets": [{"name": "t", "driver": "push_websocket"}],
        "fanout": {"clients": [2], "warm_up": "1s"},
    }
    return make_plan(Workload.model_validate(content), "run")
