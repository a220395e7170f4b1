from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from streamgauge.core.status import CaseStatus
from streamgauge.families.compare.comparisons import comparisons, repetitions
from streamgauge.families.compare.result_tables import COMPARISONS, REPETITIONS, subject_of
from streamgauge.plan.cases import Case
from streamgauge.plan.warm_up_file import PartWarmUp, WarmUpEnding, warm_up_of_parts
from streamgauge.tables.results import CAUSES

from .planted_trials import Row, case_of, trials


def judged(
    case: Case,
    *arguments: Any,
    ended: CaseStatus | None = None,
    samples: Sequence[Row] = (),
    **options: Any,
) -> list[Row]:
    """Each row with the causes of its verdicts, by kind."""
    rows, causes = comparisons(trials(case, *arguments, **options), case, ended, samples)
    assert all(set(row) == set(CAUSES.column_names) for row in causes)
    for row in rows:
        row["causes"] = [cause for cause in causes if cause["subject"] == subject_of(row)]
    return rows


def figures(row: Row, code: str) -> Row:
    return {cause["figure"]: cause["value"] for cause in row["causes"] if cause["code"] == code}


def test_a_row_for_each_cell_operation_and_temperature_with_every_column() -> None:
    case = case_of()
    rows = judged(case)
    assert len(rows) == 2 * 2 * 2
    assert all(set(row) - {"causes"} == set(COMPARISONS.column_names) for row in rows)
    assert {(row["integrity"], row["validity"]) for row in rows} == {("ok", "valid")}
    assert {row["verdict"] for row in rows} == {"A faster"}
    assert {row["status"] for row in rows} == {"ok"}
    [row, *_] = rows
    assert row["ratio_median_percent"] == pytest.approx(50, rel=0.1)
    assert row["interval_low_percent"] < 50 < row["interval_high_percent"]
    assert row["ratio_mean_percent"] == pytest.approx(100 * row["a_mean_us"] / row["b_mean_us"])
    assert row["ratio_cv_percent"] == pytest.approx(100 * row["a_cv_percent"] / row["b_cv_percent"])
    assert (row["a_cpu_us_per_message"], row["b_cpu_us_per_message"]) == (1, 3)
    assert (row["pairs"], row["a_count"], row["expected"], row["seen"]) == (12, 12, 180, 180)


def test_swapped_sides_invert_every_verdict() -> None:
    assert {row["verdict"] for row in judged(case_of(), 2.0)} == {"B faster"}


def test_the_control_holds_where_a_is_itself() -> None:
    rows = judged(case_of())
    assert not any(row["is_tainted"] for row in rows)
    assert {row["control_verdict"] for row in rows} <= {"inconclusive", "equivalent"}


def test_a_control_that_fails_taints_its_verdict_and_no_other() -> None:
    def slow_control(row: Row) -> Row:
        slow = row["side"] == "control" and row["length"] == 10 and row["operation"] == "produce"
        return row | ({"elapsed_ns": 2 * row["elapsed_ns"]} if slow else {})

    tainted = [row for row in judged(case_of(), change=slow_control) if row["is_tainted"]]
    assert [(row["operation"], row["temperature"], row["length"]) for row in tainted] == [
        ("produce", "cold", 10),
        ("produce", "warm", 10),
    ]
    assert all(row["validity"] == "invalid" and figures(row, "control_failed") for row in tainted)


def test_a_library_that_never_came_to_rest_makes_every_cell_invalid() -> None:
    parts = [
        PartWarmUp(part=side, ended=ended, seconds=1, messages=5000)
        for side, ended in (
            ("a", WarmUpEnding.AT_REST),
            ("b", WarmUpEnding.LIMIT),
            ("control", WarmUpEnding.AT_REST),
        )
    ]
    case = case_of(warm_up_messages="auto").model_copy(update={"warm_up": warm_up_of_parts(parts)})
    rows = judged(case)
    assert {row["validity"] for row in rows} == {"invalid"}
    for row in rows:
        [said] = [cause for cause in row["causes"] if cause["code"] == "never_settled"]
        assert (said["about"], said["figure"], said["value"]) == ("b", "message_count", 5000)
    calm = case.model_copy(update={"warm_up": warm_up_of_parts([parts[0], parts[2]])})
    assert {row["validity"] for row in judged(calm)} == {"valid"}


def test_what_nobody_could_tell_is_not_taken_for_rest() -> None:
    """Who led the comparison was killed before it said how its libraries warmed up."""
    assert {row["validity"] for row in judged(case_of(warm_up_messages="auto"))} == {"invalid"}


def look(at_s: float, swapped: int, throttled: int) -> Row:
    counters = {"swapped_bytes": swapped, "throttled_count": throttled}
    return {"at_ns": int(at_s * 1e9), "kind": "machine", "host": "h", **counters}


def test_a_machine_that_swapped_or_was_throttled_makes_every_cell_invalid() -> None:
    def at(row: Row) -> Row:
        """The warm-up round is in the first second, the others in the second one."""
        return row | {"started_ns": int((1.5 if row["repetition"] >= 0 else 0.5) * 1e9)}

    samples = [look(0, 1_000, 5), look(1, 9_000, 7), look(2, 9_000, 7), look(3, 9_500, 9)]
    assert {row["validity"] for row in judged(case_of(), change=at, samples=samples)} == {"valid"}
    samples[2] = look(2, 9_200, 8)
    rows = judged(case_of(), change=at, samples=samples)
    assert {row["validity"] for row in rows} == {"invalid"}
    assert figures(rows[0], "swapped") == {"swapped_bytes": 200}
    assert figures(rows[-1], "throttled") == {"throttled_count": 1}


def test_p_is_corrected_over_the_whole_run() -> None:
    rows = judged(case_of())
    assert [row["p"] for row in rows] == pytest.approx([8 * 2.0**-11] * 8)
    assert [row["p_uncorrected"] for row in rows] == pytest.approx([2.0**-11] * 8)


def test_the_warm_up_round_is_not_counted_but_its_calls_are() -> None:
    def warm_up(row: Row) -> Row:
        if row["repetition"] == -1:
            return row | {"elapsed_ns": 10**12, "jni_calls": 40 if row["side"] == "a" else None}
        return row | {"crossings": 10 if row["side"] == "a" else None}

    [row, *_] = judged(case_of(), change=warm_up)
    assert row["a_max_us"] < 10_000
    assert (row["a_jni_calls_per_message"], row["a_crossings_per_message"]) == (8, 2)
    assert (row["b_jni_calls_per_message"], row["b_crossings_per_message"]) == (None, None)


def test_a_failed_repetition_marks_its_cell_and_the_rest_is_judged() -> None:
    def broken(row: Row) -> Row:
        hit = (row["side"], row["repetition"], row["length"]) == ("b", 3, 100) and row[
            "operation"
        ] == "consume"
        return row | ({"elapsed_ns": None, "error": "1 did not come", "seen": 4, "missing": 1} if hit else {})

    rows = judged(case_of(), change=broken)
    failed = [row for row in rows if row["status"] == "failed"]
    assert {(row["operation"], row["length"]) for row in failed} == {("consume", 100)}
    for row in failed:
        assert (row["pairs"], row["b_count"], row["a_count"], row["failed"], row["missing"]) == (
            11,
            11,
            12,
            1,
            1,
        )
        assert row["integrity"] == "lost"
        assert figures(row, "missing") == {"message_count": 1}
        assert figures(row, "trials_failed") == {
            "failed_count": 1,
            "trial_count": 39,
            "first_repetition_count": 4,
        }
        [told, *_] = [cause for cause in row["causes"] if cause["code"] == "trials_failed"]
        assert (told["about"], told["text"]) == ("b", "1 did not come")
        assert row["verdict"] == "A faster"


def test_a_cell_that_was_given_up_or_never_begun_is_there_too() -> None:
    def only_some(row: Row) -> Row | None:
        return row if row["length"] == 10 and row["repetition"] < 8 else None

    rows = judged(case_of(), change=only_some, ended=CaseStatus("partial", "interrupted"))
    assert {(row["length"], row["status"], row["pairs"]) for row in rows} == {
        (10, "partial", 8),
        (100, "partial", 0),
    }
    for row in rows:
        done = 8 if row["length"] == 10 else 0
        assert row["validity"] == ("invalid" if done else "not_measured")
        assert figures(row, "incomplete") == {"measured_count": done, "planned_count": 12}
        assert {cause["text"] for cause in row["causes"] if cause["code"] == "incomplete"} == {"interrupted"}
    assert {row["verdict"] for row in rows if row["length"] == 100} == {"inconclusive"}


def test_too_few_repetitions_for_so_many_comparisons_are_warned_of() -> None:
    rows = judged(case_of(repeat=7))
    assert {row["verdict"] for row in rows} == {"inconclusive"}
    needed = {"pair_count": 7, "needed_count": 9, "comparison_count": 8}
    assert figures(rows[0], "too_few_pairs") == needed


def until_decided(ended: CaseStatus | None = None, **options: Any) -> list[Row]:
    case = case_of(until_decided=True, repeat=24)
    return judged(case, ended=ended or CaseStatus("ok"), **options)


def test_without_being_asked_to_nothing_is_decided_by_looking() -> None:
    assert {(row["decision"], row["rounds"]) for row in judged(case_of())} == {(None, 12)}


def test_until_decided_says_how_many_rounds_it_took() -> None:
    rows = until_decided()
    assert {(row["verdict"], row["decision"], row["rounds"]) for row in rows} == {("A faster", "decided", 24)}
    [row, *_] = rows
    assert row["interval_low_percent"] < 50 < row["interval_high_percent"]
    # 8 comparisons, 24 pairs that all lie below: 2²⁴ · B(2, 26) / B(2, 2).
    assert row["p_uncorrected"] == pytest.approx(26 * 27 / 6 / 2**24)
    assert row["p"] == pytest.approx(8 * row["p_uncorrected"])


@pytest.mark.parametrize(
    ("ended", "decision"),
    [
        (CaseStatus("ok"), "open_at_time_limit"),
        (CaseStatus("partial", "interrupted"), "open_when_stopped"),
    ],
)
def test_what_is_still_open_says_when_it_ended(ended: CaseStatus, decision: str) -> None:
    def alternating(row: Row) -> Row:
        """A is now twice as fast, now twice as slow."""
        is_slow = row["side"] == "b" and row["repetition"] % 2
        return row | {"elapsed_ns": row["elapsed_ns"] * (4 if is_slow else 1)}

    rows = until_decided(ended, ratio=2.0, change=alternating)
    assert {(row["verdict"], row["decision"]) for row in rows} == {("inconclusive", decision)}


def test_a_side_that_kept_failing_is_why_its_cell_is_open() -> None:
    def failing(row: Row) -> Row | None:
        if row["length"] != 10 or row["repetition"] < 2:
            return row
        if row["repetition"] > 4:
            return None
        return row | ({"elapsed_ns": None, "error": "gone"} if row["side"] == "b" else {})

    rows = until_decided(change=failing)
    said = {(row["length"], row["decision"]) for row in rows}
    assert said == {(10, "open_after_failures"), (100, "decided")}


def test_fewer_rounds_than_any_difference_needs_are_warned_of() -> None:
    rows = judged(case_of(until_decided=True, repeat=7), ended=CaseStatus("ok"))
    assert figures(rows[0], "too_few_pairs")["needed_count"] == 13


def test_a_fetch_that_waits_for_more_than_there_is_is_warned_of() -> None:
    rows = judged(case_of(preset="seed"))
    warned = {row["operation"] for row in rows if figures(row, "measures_the_wait")}
    assert warned == {"consume"}
    assert not any(figures(row, "measures_the_wait") for row in judged(case_of()))


def test_values_are_known_to_be_whole_only_where_they_were_checked() -> None:
    assert judged(case_of())[0]["corrupt"] is None
    assert judged(case_of(), change=lambda row: row | {"corrupt": 0})[0]["corrupt"] == 0


def test_repetitions_are_the_trials_in_microseconds() -> None:
    [row, *_] = repetitions(trials(case_of()))
    assert set(REPETITIONS.column_names) <= set(row)
    assert row["elapsed_us"] == row["elapsed_ns"] / 1000
