"""Tables `repetitions` and `comparisons`: A against B, cell by cell, from the trials of a comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.analysis.squeezed import squeezed
from streamgauge.analysis.validity import swapped_or_throttled
from streamgauge.core.holm import holm
from streamgauge.core.status import CaseStatus
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, Validity, cause, worst_integrity
from streamgauge.families.compare.always_valid import always_valid_ratio, fewest_rounds_for_a_difference
from streamgauge.families.compare.open_cells import OpenCells
from streamgauge.families.compare.paired_ratio import fewest_for_a_verdict, paired_ratio
from streamgauge.families.compare.paired_times import (
    NS_PER_US,
    Estimate,
    PairedTimes,
    Place,
    place_of_trial,
)
from streamgauge.families.compare.planned_comparison import SIDES, TEMPERATURES, WARM_UP, PlannedComparison
from streamgauge.families.compare.result_tables import subject_of
from streamgauge.families.compare.sample import Sample, sample, warnings_of
from streamgauge.families.compare.verdict import Decision, PairedRatio, Verdict, verdict
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.warm_up_file import WarmUp, WarmUpEnding

Row = dict[str, Any]


def repetitions(trials: Iterable[Row]) -> list[Row]:
    """One row: a trial, its times in µs."""
    return [
        {
            **trial,
            "elapsed_us": _us(trial["elapsed_ns"]),
            "cpu_us": _us(trial["cpu_ns"]),
        }
        for trial in trials
    ]


def comparisons(
    trials: Iterable[Row], case: Case, ended: CaseStatus | None, samples: Iterable[Row] = ()
) -> tuple[list[Row], list[Row]]:
    """Rows of table `comparisons`, one for each operation and temperature in a cell of the plan, whether it
    was run or not; and of table `causes`. `samples`: rows of that table, taken around the case."""
    planned = as_work(case.work, PlannedComparison)
    all_trials = list(trials)
    cells = _cells(all_trials, planned)
    given_up = _given_up(all_trials, planned)
    band = planned.comparison.equivalence_percent
    corrected = holm([cell.ratio.p if cell.ratio else None for cell in cells])
    controls = holm([cell.control.p if cell.control else None for cell in cells])
    whole = [*_never_settled(planned, case.warm_up), *_short_of_means(all_trials, samples)]
    rows: list[Row] = []
    causes: list[Row] = []
    for cell, p, control_p in zip(cells, corrected, controls, strict=True):
        judged = verdict(cell.ratio, p, band)
        row = {
            "case": case.id,
            **dict(zip(("operation", "temperature", "length", "messages"), cell.place, strict=True)),
            **_of_side("a", cell, cell.a),
            **_of_side("b", cell, cell.b),
            **_ratios(cell.a, cell.b),
            **_judged(cell.ratio, p, judged),
            "rounds": cell.done,
            "decision": _decision(cell, planned, judged, ended, is_given_up=cell.place[2:] in given_up),
            **_controlled(cell.control, control_p, verdict(cell.control, control_p, band)),
            **_accounting(cell.counted),
        }
        accounted, faults = _integrity(cell.trials, row)
        doubts = [*_doubts(cell, planned, len(cells), ended, row["is_tainted"]), *whole]
        quotable = Validity.INVALID if doubts else Validity.VALID
        rows.append(
            row
            | {
                "status": _status(cell, planned.comparison.repeat),
                "integrity": accounted.value,
                "validity": (quotable if cell.counted else Validity.NOT_MEASURED).value,
            }
        )
        sides = ((side, found) for side, found in (("a", cell.a), ("b", cell.b)) if found)
        warnings = [warning for side, found in sides for warning in warnings_of(side, found)]
        said = {"integrity": faults, "validity": doubts, "warning": warnings}
        for kind, found_causes in said.items():
            causes += cause_rows(case.id, kind, found_causes, subject_of(row))
    return rows, causes


@dataclass(frozen=True)
class _Cell:
    """All trials of one place, and what they say."""

    place: Place
    trials: list[Row]
    a: Sample | None
    b: Sample | None
    ratio: PairedRatio | None
    control: PairedRatio | None

    @property
    def counted(self) -> list[Row]:
        return [trial for trial in self.trials if trial["repetition"] != WARM_UP]

    @property
    def done(self) -> int:
        """Repetitions that every side has made."""
        return min((sum(t["side"] == side for t in self.counted) for side in SIDES), default=0)

    @property
    def failed(self) -> list[Row]:
        return [trial for trial in self.trials if trial["error"] is not None]


def _cells(trials: Iterable[Row], planned: PlannedComparison) -> list[_Cell]:
    by_place: dict[Place, list[Row]] = defaultdict(list)
    for trial in trials:
        by_place[place_of_trial(trial)].append(trial)
    estimate = always_valid_ratio if planned.comparison.until_decided else paired_ratio
    return [
        _cell((operation, temperature, cell.length, cell.messages), by_place, estimate)
        for operation in planned.comparison.operations
        for temperature in TEMPERATURES
        for cell in planned.cells
    ]


def _cell(place: Place, by_place: dict[Place, list[Row]], estimate: Estimate) -> _Cell:
    trials = sorted(by_place[place], key=lambda trial: int(trial["position"]))
    times = PairedTimes()
    for trial in trials:
        times.add(trial)
    return _Cell(
        place,
        trials,
        a=sample(times.of("a")),
        b=sample(times.of("b")),
        ratio=times.ratio("b", estimate),
        control=times.ratio("control", estimate),
    )


def _given_up(trials: Iterable[Row], planned: PlannedComparison) -> set[tuple[int, int]]:
    """Lengths and messages of the cells that their referee left because one side kept failing."""
    turns: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for trial in trials:
        turns[trial["position"], trial["length"], trial["messages"], trial["side"]].append(trial)
    cells = OpenCells(planned)
    for (*_, side), own in sorted(turns.items()):
        cells.add(side, own)
    return {(cell.length, cell.messages) for cell in planned.cells if cells.is_given_up(cell)}


def _decision(
    cell: _Cell,
    planned: PlannedComparison,
    judged: Verdict,
    ended: CaseStatus | None,
    *,
    is_given_up: bool,
) -> Decision | None:
    """None where the number of rounds was given."""
    comparison = planned.comparison
    if not comparison.until_decided:
        return None
    if judged is not Verdict.INCONCLUSIVE:
        return Decision.DECIDED
    if is_given_up:
        return Decision.OPEN_AFTER_FAILURES
    is_whole = ended is not None and ended.status == "ok" and cell.done >= comparison.repeat
    return Decision.OPEN_AT_TIME_LIMIT if is_whole else Decision.OPEN_WHEN_STOPPED


def _of_side(side: str, cell: _Cell, found: Sample | None) -> Row:
    mine = [trial for trial in cell.trials if trial["side"] == side]
    counted = [trial["cpu_ns"] for trial in mine if trial["repetition"] != WARM_UP]
    messages = cell.place[3]
    statistics: Row = {
        "count": found.count if found else 0,
        "max_us": found.max if found else None,
        "min_us": found.min if found else None,
        "mean_us": found.mean if found else None,
        "sd_us": found.sd if found else None,
        "cv_percent": _percent(found.cv if found else None),
        "median_us": found.median if found else None,
        "cpu_us_per_message": _median(counted, NS_PER_US * messages),
        "crossings_per_message": _median([trial["crossings"] for trial in mine], messages),
        "jni_calls_per_message": _median([trial["jni_calls"] for trial in mine], messages),
        "is_two_humped": found.is_two_humped if found else False,
    }
    return {f"{side}_{name}": value for name, value in statistics.items()}


def _ratios(a: Sample | None, b: Sample | None) -> Row:
    names = ("max", "min", "mean", "sd", "cv")
    pairs = {name: (getattr(a, name, None), getattr(b, name, None)) for name in names}
    return {
        f"ratio_{name}_percent": None if one is None or not other else 100 * one / other
        for name, (one, other) in pairs.items()
    }


def _judged(ratio: PairedRatio | None, p: float | None, judged: Verdict) -> Row:
    low, high = ratio.interval if ratio and ratio.interval else (None, None)
    return {
        "pairs": ratio.pairs if ratio else 0,
        "ratio_median_percent": _percent(ratio.median if ratio else None),
        "interval_low_percent": _percent(low),
        "interval_high_percent": _percent(high),
        "p": p,
        "p_uncorrected": ratio.p if ratio else None,
        "detectable_percent": _percent(ratio.detectable - 1 if ratio and ratio.detectable else None),
        "verdict": judged,
    }


def _controlled(control: PairedRatio | None, p: float | None, judged: Verdict) -> Row:
    low, high = control.interval if control and control.interval else (None, None)
    return {
        "control_ratio_median_percent": _percent(control.median if control else None),
        "control_interval_low_percent": _percent(low),
        "control_interval_high_percent": _percent(high),
        "control_p": p,
        "control_verdict": judged,
        "is_tainted": judged.is_of_a_difference,
    }


def _accounting(counted: Sequence[Row]) -> Row:
    checked = [trial["corrupt"] for trial in counted if trial["corrupt"] is not None]
    return {
        **{
            name: sum(trial[name] for trial in counted)
            for name in ("expected", "seen", "missing", "duplicate")
        },
        "corrupt": sum(checked) if checked else None,
        "failed": sum(trial["error"] is not None for trial in counted),
    }


def _status(cell: _Cell, repeat: int) -> str:
    """A failed trial marks its cell; one that was not repeated as often as wanted is partial."""
    if cell.failed:
        return "failed"
    return "partial" if cell.done < repeat else "ok"


def _integrity(trials: Sequence[Row], counts: Row) -> tuple[Integrity, list[Cause]]:
    """`counts`: what `_accounting` says of them."""
    if not trials:
        return Integrity.NOT_MEASURED, []
    found = []
    if counts["missing"]:
        found.append((Integrity.LOST, cause(CauseCode.MISSING, message_count=counts["missing"])))
    if counts["corrupt"]:
        found.append((Integrity.CORRUPT, cause(CauseCode.CORRUPT, message_count=counts["corrupt"])))
    failed = [trial for trial in trials if trial["error"] is not None]
    if failed:
        first = failed[0]
        why = cause(
            CauseCode.TRIALS_FAILED,
            first["error"],
            first["side"],
            failed_count=len(failed),
            trial_count=len(trials),
            first_repetition_count=first["repetition"] + 1,
        )
        found.append((Integrity.FAILED, why))
    if counts["duplicate"]:
        found.append((Integrity.DUPLICATE, cause(CauseCode.DUPLICATE, message_count=counts["duplicate"])))
    if not found:
        return Integrity.OK, []
    return worst_integrity(verdict for verdict, _ in found), [why for _, why in found]


def _never_settled(planned: PlannedComparison, warm_up: WarmUp | None) -> Iterator[Cause]:
    """A library that was still on its way when its tests began: no cell says anything of it."""
    if planned.comparison.warm_up_messages != "auto":
        return
    if warm_up is None:
        yield cause(CauseCode.NEVER_SETTLED)  # who led the comparison ended before it could tell
        return
    for part in warm_up.parts:
        if part.ended is not WarmUpEnding.AT_REST:
            yield cause(CauseCode.NEVER_SETTLED, about=part.part, message_count=part.messages)


def _short_of_means(trials: Iterable[Row], samples: Iterable[Row]) -> Iterator[Cause]:
    """Of the rounds together: whose turn it was when the machine swapped nobody knows."""
    counted = [trial for trial in trials if trial["repetition"] != WARM_UP]
    if not counted:
        return
    begin_ns = min(trial["started_ns"] for trial in counted)
    end_ns = max(trial["started_ns"] + (trial["elapsed_ns"] or 0) for trial in counted)
    yield from swapped_or_throttled(squeezed(samples, begin_ns, end_ns))


def _doubts(
    cell: _Cell, planned: PlannedComparison, tests: int, ended: CaseStatus | None, is_tainted: bool
) -> Iterator[Cause]:
    """Why the verdict of a cell is not to be quoted."""
    repeat = planned.comparison.repeat
    if is_tainted:
        yield cause(
            CauseCode.CONTROL_FAILED, control_median_share=cell.control.median if cell.control else None
        )
    if cell.done < repeat:
        why = ended.reason if ended is not None and not cell.failed else None
        yield cause(CauseCode.INCOMPLETE, why, measured_count=cell.done, planned_count=repeat)
    fewest = fewest_rounds_for_a_difference if planned.comparison.until_decided else fewest_for_a_verdict
    pairs, needed = cell.ratio.pairs if cell.ratio else 0, fewest(tests)
    if 0 < pairs < needed:
        yield cause(CauseCode.TOO_FEW_PAIRS, pair_count=pairs, needed_count=needed, comparison_count=tests)
    operation, _, length, messages = cell.place
    least = planned.comparison.shared_settings.get("fetch_min_bytes", 1)
    to_read = length * (1 if operation == "round_trip" else messages)
    if operation != "produce" and to_read < least:
        yield cause(CauseCode.MEASURES_THE_WAIT, to_read_bytes=to_read, fetch_min_bytes=least)


def _median(values: Iterable[Any], per: float) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) / per if known else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _us(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / NS_PER_US
