"""Tables `repetitions` and `comparisons`: A against B, cell by cell, from the trials of a comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from streamgauge.analysis.paired_ratio import (
    PairedRatio,
    Verdict,
    fewest_for_a_verdict,
    holm,
    paired_ratio,
    verdict,
)
from streamgauge.analysis.sample import Sample, sample, warnings_of
from streamgauge.core.status import CaseStatus
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.contest import SIDES, TEMPERATURES, WARM_UP, Contest

Row = dict[str, Any]
Place = tuple[str, str, int, int]
"""Operation, temperature, length, messages."""

_NS_PER_US = 1000.0
_FASTER = ("A faster", "B faster")


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


def comparisons(trials: Iterable[Row], case: Case, ended: CaseStatus | None) -> list[Row]:
    """One row: an operation and temperature in a cell of the plan, whether it was run or not."""
    contest = as_work(case.work, Contest)
    cells = _cells(trials, contest)
    band = contest.comparison.equivalence_percent
    corrected = holm([cell.ratio.p if cell.ratio else None for cell in cells])
    controls = holm([cell.control.p if cell.control else None for cell in cells])
    rows = []
    for cell, p, control_p in zip(cells, corrected, controls, strict=True):
        control_verdict = verdict(cell.control, control_p, band)
        row = {
            "case": case.id,
            **dict(zip(("operation", "temperature", "length", "messages"), cell.place, strict=True)),
            **_of_side("a", cell, cell.a),
            **_of_side("b", cell, cell.b),
            **_ratios(cell.a, cell.b),
            **_judged(cell.ratio, p, verdict(cell.ratio, p, band)),
            **_controlled(cell.control, control_p, control_verdict),
            **_accounting(cell.counted),
        }
        status, reasons = _status(cell, contest.comparison.repeat, ended)
        warnings = _warnings(cell, contest, len(cells), row["is_tainted"])
        rows.append(row | {"status": status, "reasons": "\n".join(reasons), "warnings": "\n".join(warnings)})
    return rows


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
    def failed(self) -> list[Row]:
        return [trial for trial in self.trials if trial["error"] is not None]


def _cells(trials: Iterable[Row], contest: Contest) -> list[_Cell]:
    by_place: dict[Place, list[Row]] = defaultdict(list)
    for trial in trials:
        place = (trial["operation"], trial["temperature"], trial["length"], trial["messages"])
        by_place[place].append(trial)
    return [
        _cell((operation, temperature, cell.length, cell.messages), by_place)
        for operation in contest.comparison.operations
        for temperature in TEMPERATURES
        for cell in contest.cells
    ]


def _cell(place: Place, by_place: dict[Place, list[Row]]) -> _Cell:
    trials = sorted(by_place[place], key=lambda trial: int(trial["position"]))
    times: dict[str, dict[int, float]] = {side: {} for side in SIDES}
    for trial in trials:
        if trial["repetition"] != WARM_UP and trial["elapsed_ns"] is not None:
            # A clock may not have moved in so short a time; a ratio needs something above 0.
            times[trial["side"]][trial["repetition"]] = max(trial["elapsed_ns"], 1) / _NS_PER_US
    return _Cell(
        place,
        trials,
        a=sample(list(times["a"].values())),
        b=sample(list(times["b"].values())),
        ratio=_paired(times["a"], times["b"]),
        control=_paired(times["a"], times["control"]),
    )


def _paired(one: dict[int, float], other: dict[int, float]) -> PairedRatio | None:
    """Only rounds in which both have a time."""
    both = sorted(one.keys() & other.keys())
    return paired_ratio([one[r] for r in both], [other[r] for r in both])


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
        "cpu_us_per_message": _median(counted, _NS_PER_US * messages),
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
        "is_tainted": judged in _FASTER,
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


def _status(cell: _Cell, repeat: int, ended: CaseStatus | None) -> tuple[str, list[str]]:
    """A failed trial marks its cell; one that was not repeated as often as wanted is partial."""
    done = min((sum(t["side"] == side for t in cell.counted) for side in SIDES), default=0)
    reasons = []
    if cell.failed:
        first = cell.failed[0]
        where = "warm-up" if first["repetition"] == WARM_UP else f"repetition {first['repetition'] + 1}"
        reasons.append(
            f"{len(cell.failed)} of {len(cell.trials)} trials failed; the first: "
            f"{first['side']}, {where}: {first['error']}"
        )
    if done < repeat:
        why = "too many of its trials failed" if cell.failed else (ended and ended.reason) or "the run ended"
        reasons.append(f"{done} of {repeat} repetitions were made: {why}")
    if cell.failed:
        return "failed", reasons
    return ("partial", reasons) if done < repeat else ("ok", reasons)


def _warnings(cell: _Cell, contest: Contest, tests: int, is_tainted: bool) -> list[str]:
    found = [line for name, s in (("A", cell.a), ("B", cell.b)) if s for line in warnings_of(name, s)]
    operation, _, length, messages = cell.place
    least = contest.comparison.shared_settings.get("fetch_min_bytes", 1)
    if operation != "produce" and length * (1 if operation == "round_trip" else messages) < least:
        found.insert(
            0, f"less than fetch_min_bytes ({least:,}) to read: this measures how long a broker waits"
        )
    pairs = cell.ratio.pairs if cell.ratio else 0
    needed = fewest_for_a_verdict(tests)
    if 0 < pairs < needed:
        found.insert(0, f"{pairs} pairs cannot show a difference among {tests} comparisons; {needed} could")
    if is_tainted:
        found.insert(0, "the control found A different from itself: do not trust this verdict")
    return found


def _median(values: Iterable[Any], per: float) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) / per if known else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _us(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / _NS_PER_US
