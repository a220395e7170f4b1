"""What a fault cost, of messages written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.analysis.fault_figures import FIGURES
from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.verdicts import CauseCode, Validity
from streamgauge.plan.fault_file import FaultRecord, note_faults
from streamgauge.report.result_tables import read_result
from streamgauge.tables.events import PLANNED_ABORT
from streamgauge.tables.results import ACCOUNTING, CAUSES, VERDICTS
from tests.analysis.recorded import MS, SECOND, START_NS, CaseEvents, Recorded


def every_ms(count: int, *, fault_at_s: float, heals_at_s: float) -> CaseEvents:
    """One message a ms; those due between fault and healing arrive when it heals, or 2 ms after."""
    case = CaseEvents("faulty", load={"messages": count, "rate": 1000})
    for sequence in range(count):
        send = case.send(sequence)
        due_s = sequence / 1000
        is_held = fault_at_s <= due_s < heals_at_s
        received_ns = START_NS + int(heals_at_s * SECOND) if is_held else send["sent_ns"] + 2 * MS
        case.receive(send, received_ns=received_ns)
    return case


def record(at_s: float, ended_s: float | None = None) -> FaultRecord:
    return FaultRecord(
        kind="broker_kill",
        planned_at_s=at_s,
        target="broker-1",
        began_ns=START_NS + int(at_s * SECOND),
        done_ns=START_NS + int(at_s * SECOND),
        ended_ns=None if ended_s is None else START_NS + int(ended_s * SECOND),
    )


def figures(folder: Path, case: CaseEvents, *records: FaultRecord) -> tuple[Recorded, list[FaultFigures]]:
    run = Recorded(folder)
    run.add(case)
    run.write()
    note_faults(run.run, "001", records)
    run.analyze()
    return run, FIGURES.validate_json(run.run.read_text(run.run.fault_figures))["001"]


def test_a_stall_is_detected_and_recovered_from(tmp_path: Path) -> None:
    case = every_ms(5000, fault_at_s=2.0, heals_at_s=3.5)

    _, [found] = figures(tmp_path, case, record(2.0, 3.0))

    assert found.late_over_ms == pytest.approx(20.2)  # ten times a median of 2.02 ms
    assert found.detect_s == pytest.approx(0.0202)
    assert found.recover_s == pytest.approx(1.5)
    assert found.late_count == 1500 - 20  # those of the last 20 ms were in time
    assert found.longest_ms == pytest.approx(1500)
    assert (found.began_s, found.ended_s) == (pytest.approx(2.0), pytest.approx(3.0))
    assert (found.lost_count, found.failed_count, found.duplicate_count) == (0, 0, 0)
    assert found.is_recovered


def test_each_fault_is_charged_with_its_own(tmp_path: Path) -> None:
    case = every_ms(6000, fault_at_s=1.0, heals_at_s=1.5)
    lost = case.receives.pop(4200)
    case.receive(case.sends[4300], received_ns=START_NS + 4305 * MS)
    case.receive(case.sends[4400], received_ns=START_NS + 4405 * MS, offset=90_000)

    _, [first, second, never] = figures(
        tmp_path,
        case,
        record(1.0, 1.2),
        record(4.0),
        FaultRecord(kind="broker_pause", planned_at_s=9.0),
    )

    assert lost["sequence"] == 4200
    assert (first.lost_count, first.duplicate_count, first.late_count > 0) == (0, 0, True)
    assert (second.lost_count, second.late_count) == (1, 0)
    assert (second.duplicate_count, second.redelivered_count) == (1, 1)
    # When the lost one would have been late: that it is lost nobody knew before.
    assert second.detect_s == second.recover_s == pytest.approx(0.2202)
    assert (second.is_recovered, second.ended_s) == (True, None)
    assert never.began_s is None


def test_one_that_could_not_be_done_costs_nothing_and_what_happens_is_the_one_befores(tmp_path: Path) -> None:
    case = every_ms(6000, fault_at_s=1.0, heals_at_s=3.0)
    refused = record(2.0).model_copy(
        update={"target": None, "done_ns": None, "problem": "broker-1 is down already"}
    )

    _, [done, not_done] = figures(tmp_path, case, record(1.0, 3.0), refused)

    assert (done.late_count, done.recover_s) == (2000 - 20, pytest.approx(2.0))
    assert (not_done.late_count, not_done.detect_s, not_done.recover_s) == (0, None, None)


def test_one_that_went_wrong_after_it_was_done_is_charged(tmp_path: Path) -> None:
    case = every_ms(6000, fault_at_s=1.0, heals_at_s=3.0)
    done_ns = START_NS + SECOND
    undone = record(1.0).model_copy(update={"done_ns": done_ns, "problem": "it does not start"})

    _, [found] = figures(tmp_path, case, undone)

    assert found.late_count == 2000 - 20


def test_of_one_that_is_prepared_times_count_from_when_it_was_and_messages_from_the_beginning(
    tmp_path: Path,
) -> None:
    case = every_ms(6000, fault_at_s=1.0, heals_at_s=3.0)
    prepared = record(1.0, 2.5).model_copy(update={"counts_from_ns": START_NS + 2 * SECOND})

    _, [found] = figures(tmp_path, case, prepared)

    assert (found.began_s, found.late_count) == (pytest.approx(1.0), 2000 - 20)
    assert (found.detect_s, found.recover_s) == (0.0, pytest.approx(1.0))


def test_who_is_still_late_in_the_end_has_not_recovered(tmp_path: Path) -> None:
    case = every_ms(3000, fault_at_s=2.0, heals_at_s=3.6)

    _, [found] = figures(tmp_path, case, record(2.0))

    assert not found.is_recovered
    assert found.recover_s is None
    assert found.late_count == 1000


def failing(count: int, *, from_s: float, until_s: float, **given: Any) -> CaseEvents:
    """One message a ms; those due meanwhile get nowhere, and that is said after 300 ms, if anything is."""
    case = CaseEvents("faulty", load={"messages": count, "rate": 1000})
    for sequence in range(count):
        if from_s <= sequence / 1000 < until_s:
            told = {"acked_ns": START_NS + (sequence + 300) * MS, "error": "timed out"} | given
            case.send(sequence, partition=None, offset=None, **told)
        else:
            case.receive(case.send(sequence))
    return case


NEVER = 1e9


def test_where_all_fail_from_the_fault_on_nothing_recovered(tmp_path: Path) -> None:
    _, [found] = figures(tmp_path, failing(4000, from_s=2.0, until_s=NEVER), record(2.0))

    assert (found.is_recovered, found.recover_s) == (False, None)
    assert (found.failed_count, found.late_count, found.unanswered_count) == (2000, 0, 0)
    assert found.detect_s == pytest.approx(0.3)


def test_where_they_fail_and_then_arrive_it_is_over_when_the_last_one_was_told(tmp_path: Path) -> None:
    _, [found] = figures(tmp_path, failing(5000, from_s=2.0, until_s=3.0), record(2.0))

    assert found.is_recovered
    assert found.recover_s == pytest.approx(0.999 + 0.3)
    assert (found.failed_count, found.lost_count) == (1000, 0)


def test_of_what_nothing_was_heard_again_it_is_counted_and_over_when_it_would_have_been_late(
    tmp_path: Path,
) -> None:
    silent: dict[str, Any] = {"acked_ns": None, "error": None}
    _, [heals] = figures(tmp_path / "heals", failing(5000, from_s=2.0, until_s=3.0, **silent), record(2.0))
    _, [ends] = figures(tmp_path / "ends", failing(4000, from_s=2.0, until_s=NEVER, **silent), record(2.0))

    assert (heals.unanswered_count, heals.failed_count, heals.lost_count) == (1000, 0, 0)
    assert heals.detect_s == pytest.approx(0.0202)
    assert heals.recover_s == pytest.approx(0.999 + 0.0202)
    assert (ends.is_recovered, ends.recover_s, ends.unanswered_count) == (False, None, 2000)


def test_a_hiccup_long_after_it_was_over_is_counted_and_not_waited_for(tmp_path: Path) -> None:
    case = CaseEvents("faulty", load={"messages": 600, "rate": 20})
    for sequence in range(600):
        due_ns = START_NS + sequence * 50 * MS
        took_ms = 400 if 40 <= sequence < 60 or sequence in (500, 501) else 2
        case.receive(case.send(sequence, intended_ns=due_ns), received_ns=due_ns + took_ms * MS)

    _, [found] = figures(tmp_path, case, record(2.0, 4.0))

    assert found.recover_s == pytest.approx(0.95 + 0.4)
    assert (found.late_count, found.later_count, found.is_recovered) == (22, 2, True)


def test_a_planned_fault_is_the_one_cause_for_which_no_steady_figure_is_quoted(tmp_path: Path) -> None:
    case = every_ms(20_000, fault_at_s=10.0, heals_at_s=13.0)
    run = Recorded(tmp_path)
    run.add(case)
    run.write()
    without = run.analyze()
    note_faults(run.run, "001", [record(10.0)])
    told = run.analyze()

    codes = [row["code"] for row in told.rows(CAUSES.name, "faulty", verdict="validity")]
    assert set(codes) == {CauseCode.FAULT_DURING_MEASURING.value}
    assert told.row(VERDICTS.name, "faulty")["validity"] == Validity.INVALID.value
    assert CauseCode.FAULT_DURING_MEASURING.value not in [
        row["code"] for row in without.rows(CAUSES.name, "faulty", verdict="validity")
    ]


def test_what_was_aborted_as_planned_is_no_cost_of_a_fault_and_no_failure(tmp_path: Path) -> None:
    case = every_ms(3000, fault_at_s=2.0, heals_at_s=2.0)
    for send in case.sends[2100:2200]:
        send["error"] = PLANNED_ABORT
    case.receives = [row for row in case.receives if not 2100 <= row["sequence"] < 2200]
    case.load["transactions"] = {"messages": 100, "abort_every": 22}

    run, [found] = figures(tmp_path, case, record(2.0))

    assert (found.failed_count, found.lost_count, found.detect_s) == (0, 0, None)
    [verdict] = read_result(run.run, VERDICTS).to_pylist()
    assert (verdict["status"], verdict["integrity"]) == ("ok", "ok")
    [whole] = [row for row in read_result(run.run, ACCOUNTING).to_pylist() if row["scope"] == "case"]
    assert (whole["sent"], whole["acked"], whole["failed"], whole["aborted"]) == (3000, 2900, 0, 100)
