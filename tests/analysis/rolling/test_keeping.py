"""Of what was rolled up the slowest, and all around a fault, have a row each; faults cost what they did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from streamgauge.analysis.fault_figures import FIGURES
from streamgauge.analysis.message_rows import messages_of
from streamgauge.analysis.rolling import keeping
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.fault_file import note_faults
from streamgauge.plan.roll_up_file import last_roll_up
from tests.analysis.recorded import MS, SECOND, START_NS, CaseEvents
from tests.analysis.rolling.rolled_runs import Terms, result_rows, rolled_up, written
from tests.analysis.test_fault_figures import record

A_FAULT_AT_S, ENDED_S = 100.0, 104.0


def every_20_ms(seconds: int) -> CaseEvents:
    """Held up by the fault, and slow again now and then long after it."""
    case = CaseEvents("long", load={"messages": 50 * seconds, "rate": 50})
    for sequence in range(50 * seconds):
        due_ns = START_NS + sequence * 20 * MS
        send = case.send(sequence, intended_ns=due_ns)
        due_s = sequence / 50
        took_ns = 2 * MS + sequence % 7 * MS // 10
        if A_FAULT_AT_S <= due_s < ENDED_S:
            took_ns = int((ENDED_S - due_s) * SECOND) + 3 * MS
        if due_s > 200 and sequence % 501 == 0:
            took_ns = 30 * MS + sequence
        case.receive(send, received_ns=due_ns + took_ns)
    case.receives.sort(key=lambda row: row["arrival"])
    return case


def test_faults_cost_as_much_as_if_nothing_had_been_rolled_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SLOWEST", 5)
    whole = written(tmp_path, [every_20_ms(400)], rows=500)
    note_faults(whole.run, "001", [record(A_FAULT_AT_S, ENDED_S)])
    copy = RunDir(f"{whole.run.location}-rolled")
    shutil.copytree(whole.run.location, copy.location)
    rolled_up(copy, START_NS + 380 * SECOND, Terms(3_000, 100_000))

    whole.analyze()
    raw, whole.run = whole.run, copy
    whole.analyze()

    last = last_roll_up(copy, "001")
    assert last is not None
    assert last.messages > 10_000
    assert 0.3 < last.kept / last.messages < 0.6
    assert result_rows(copy) == result_rows(raw)
    costs = [FIGURES.validate_json(run.read_text(run.fault_figures))["001"] for run in (raw, copy)]
    assert costs[0] == costs[1]
    assert costs[0][0].late_count > 200
    seconds = {
        second - int(A_FAULT_AT_S)
        for part in messages_of(copy, ["second"])
        for second in part["second"].to_pylist()
    }
    assert set(range(-60, 64)) <= seconds
