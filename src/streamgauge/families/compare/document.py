"""The document of a comparison: how two libraries were compared, and what came of it, cell by cell."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import Field

from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Cause, CauseCode, cause
from streamgauge.families.compare.event_tables import ENGINE
from streamgauge.families.compare.outcomes import known_of
from streamgauge.families.compare.places import place_words
from streamgauge.families.compare.planned_comparison import PlannedComparison, Side
from streamgauge.families.compare.result_tables import APPLIED_SETTINGS, COMPARISONS, REPETITIONS, subject_of
from streamgauge.families.compare.section import Comparison
from streamgauge.families.compare.verdict import Decision, Verdict
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.warm_up_file import PartWarmUp, WarmUpEnding
from streamgauge.report.document import (
    Document,
    Part,
    Verdicts,
    causes_of,
    head_of,
    judged_of,
    strict,
)
from streamgauge.report.outcomes import outcomes_of
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.spec.objective import Objective
from streamgauge.spec.target import Target

LIBRARIES: tuple[Side, ...] = ("a", "b")
_OF_BOTH = ("cpu_us_per_message", "crossings_per_message", "jni_calls_per_message")


class Library(Part):
    name: str
    driver: str
    engine: str
    version: str | None


class AppliedSetting(Part):
    native: str | None
    """the library's own name; null: it has no such setting"""
    value: str | None
    """what was in force; null: left to the system, or no such setting"""
    note: str


class ComparedSetting(Part):
    name: str
    role: str
    is_shared: bool
    """it has a name across libraries"""
    a: AppliedSetting | None
    b: AppliedSetting | None


class Bursts(Part):
    length: int
    interval_s: float


class LibraryWarmUp(Part):
    """Of one library's process that warmed up until it was at rest."""

    side: Literal["a", "b", "control"]
    ended: WarmUpEnding
    seconds: float
    messages: int
    blocks_us: dict[str, list[float]]
    """what each block of messages took, by operation"""


class Conditions(Part):
    a: Library
    b: Library
    lengths: list[int]
    message_counts: list[int]
    repeat: int
    until_decided: bool = False
    """rounds were added where a verdict was open; `repeat` is the least"""
    time_limit_s: float | None = None
    """for the whole comparison; null: of a run that did not say"""
    preset: Literal["fair", "seed"]
    acks: str
    compression: str
    partitions: int
    replicas: int
    process: Literal["own", "shared"]
    check_on_consume: bool
    bursts: Bursts | None
    warm_up_messages: int | None
    """null: until at rest"""
    warm_up: list[LibraryWarmUp]
    """then: of each library, in their order; empty when the number was fixed beforehand"""
    equivalence_percent: float
    settings: list[ComparedSetting]
    notes: list[Cause]
    """what to know before believing the comparison"""


class Times(Part):
    count: int
    max_us: float | None
    min_us: float | None
    mean_us: float | None
    sd_us: float | None
    cv_percent: float | None
    median_us: float | None
    is_two_humped: bool


class Ratio(Part):
    """A over B; below 100 A is better."""

    max: float | None
    min: float | None
    mean: float | None
    sd: float | None
    cv: float | None
    median: float | None
    """of the pairs' ratios"""


class Control(Part):
    """A against itself."""

    median_percent: float | None
    interval_percent: tuple[float, float] | None
    p: float | None
    verdict: Verdict


class OfBoth(Part):
    a: float | None
    b: float | None


class ComparedAccounting(Part):
    """Of A, B and control, all repetitions."""

    expected: int
    seen: int
    missing: int
    duplicate: int
    corrupt: int | None
    """null: not checked"""
    failed: int
    """trials"""


class Compared(Verdicts):
    """A against B in one cell, operation and temperature."""

    operation: Literal["produce", "consume", "round_trip"]
    temperature: Literal["cold", "warm"]
    length: int
    messages: int
    verdict: Verdict
    is_tainted: bool
    """the control found a difference where there is none"""
    pairs: int
    rounds: int | None = None
    """repetitions that A, B and control have all made; null: of a run that did not say"""
    decision: Decision | None = None
    """how a run until decided ended here; null: the number of rounds was given"""
    ratio_percent: Ratio
    interval_percent: tuple[float, float] | None
    """95% interval of the median; until decided: however often one looked"""
    p: float | None
    """corrected by Holm over the whole run"""
    p_uncorrected: float | None
    detectable_percent: float | None
    """least difference found in 4 of 5 such runs"""
    control: Control
    a: Times
    b: Times
    cpu_us_per_message: OfBoth
    crossings_per_message: OfBoth
    jni_calls_per_message: OfBoth
    accounting: ComparedAccounting
    warnings: list[Cause]
    """true of the figures, and no reason not to quote them"""


class Total(Part):
    """The time of all repetitions in which neither library failed, but for the warm-up round."""

    operation: Literal["all", "produce", "consume", "round_trip"]
    pairs: int
    a_s: float
    b_s: float
    ratio_percent: float | None
    """A over B; null: B took no time"""


class CompareDocument(Document):
    comparison: Conditions
    """how libraries were compared"""
    totals: list[Total] = Field(default_factory=list)
    """of all tests, and of those of each operation"""
    comparisons: list[Compared]

    row_field: ClassVar[str] = "comparisons"

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        return {
            place_words(row.operation, row.temperature, row.messages, row.length): row
            for row in self.comparisons
        }


def compare_document(run: RunDir, plan: Plan, tables: ResultTables) -> CompareDocument:
    [case] = plan.cases
    planned = as_work(case.work, PlannedComparison)
    found = [_compared(row, tables, plan.objectives) for row in tables.rows(COMPARISONS, case.id)]
    found.sort(key=_as_planned(planned))
    head = head_of(run, plan, {place_of(row): row for row in found})
    warm_ups = case.warm_up.parts if case.warm_up else ()
    conditions = _conditions(planned, found, tables.rows(APPLIED_SETTINGS, case.id), warm_ups)
    totals = list(_totals(tables.rows(REPETITIONS, case.id)))
    return CompareDocument(**head, comparison=conditions, totals=totals, comparisons=found)


def _totals(repetitions: list[Row]) -> Iterator[Total]:
    times: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    for row in repetitions:
        if row["repetition"] >= 0 and row["elapsed_us"] is not None and row["side"] in LIBRARIES:
            cell = (row["operation"], row["temperature"], row["length"], row["messages"], row["repetition"])
            times[cell][row["side"]] = row["elapsed_us"]
    # One that only one library came through would be counted against it.
    pairs = [(cell[0], pair["a"], pair["b"]) for cell, pair in times.items() if len(pair) == len(LIBRARIES)]
    operations = dict.fromkeys(operation for operation, _, _ in pairs)
    for name in ("all", *operations) if pairs else ():
        own = [(a, b) for operation, a, b in pairs if name in ("all", operation)]
        a_us, b_us = (math.fsum(side) for side in zip(*own, strict=True))
        ratio = 100 * a_us / b_us if b_us else None
        yield Total(operation=name, pairs=len(own), a_s=a_us / 1e6, b_s=b_us / 1e6, ratio_percent=ratio)


def place_of(row: Compared) -> str:
    return subject_of(row.model_dump(include={"operation", "temperature", "length", "messages"}))


def _as_planned(planned: PlannedComparison) -> Any:
    plan = planned.comparison
    temperatures = ("cold", "warm")

    def place(row: Compared) -> tuple[int, ...]:
        return (
            plan.operations.index(row.operation),
            temperatures.index(row.temperature),
            plan.messages.index(row.messages),
            plan.lengths.index(row.length),
        )

    return place


def _compared(row: Row, tables: ResultTables, objectives: Sequence[Objective]) -> Compared:
    same = (
        "operation",
        "temperature",
        "length",
        "messages",
        "status",
        "verdict",
        "is_tainted",
        "pairs",
        "rounds",
        "decision",
        "p",
        "p_uncorrected",
        "detectable_percent",
    )
    content: dict[str, Any] = {
        **{name: row[name] for name in same},
        "ratio_percent": {name: row[f"ratio_{name}_percent"] for name in Ratio.model_fields},
        "interval_percent": _interval(row, "interval"),
        "control": {
            "median_percent": row["control_ratio_median_percent"],
            "interval_percent": _interval(row, "control_interval"),
            "p": row["control_p"],
            "verdict": row["control_verdict"],
        },
        **{str(side): {name: row[f"{side}_{name}"] for name in Times.model_fields} for side in LIBRARIES},
        **{name: {side: row[f"{side}_{name}"] for side in LIBRARIES} for name in _OF_BOTH},
        "accounting": {name: row[name] for name in ComparedAccounting.model_fields},
    }
    subject = subject_of(row)
    verdicts = judged_of(tables, row, subject) | {
        "warnings": causes_of(tables, row["case"], "warning", subject)
    }
    compared = Compared.model_validate(strict(content) | verdicts)
    compared.objectives = outcomes_of(objectives, partial(known_of, strict(content)), compared.validity)
    return compared


def _interval(row: Row, name: str) -> list[float] | None:
    low, high = row[f"{name}_low_percent"], row[f"{name}_high_percent"]
    return None if low is None else [low, high]


def _conditions(
    planned: PlannedComparison, found: list[Compared], settings: list[Row], warm_ups: Sequence[PartWarmUp]
) -> Conditions:
    plan = planned.comparison
    told = {row["side"]: (row["value"], row["note"] or None) for row in settings if row["role"] == ENGINE}
    a, b = (_library(planned.target_of(side), *told.get(side, (plan.engine, None))) for side in LIBRARIES)
    bursts = plan.bursts
    shared = _settings(settings)
    return Conditions(
        a=a,
        b=b,
        lengths=list(plan.lengths),
        message_counts=list(plan.messages),
        repeat=plan.repeat,
        until_decided=plan.until_decided,
        time_limit_s=plan.time_limit,
        preset=plan.preset,
        acks=plan.acks_in_force,
        compression=plan.compression,
        partitions=plan.topics.partitions,
        replicas=plan.topics.replicas,
        process=plan.process,
        check_on_consume=plan.check_on_consume,
        bursts=None if bursts is None else Bursts(length=bursts.length, interval_s=bursts.interval),
        warm_up_messages=None if plan.warm_up_messages == "auto" else plan.warm_up_messages,
        warm_up=[_warm_up(part) for part in warm_ups],
        equivalence_percent=plan.equivalence_percent,
        settings=shared,
        notes=[*_notes(plan, found, is_mixed=a.engine != b.engine), *unequal_settings(plan, shared)],
    )


def _warm_up(found: PartWarmUp) -> LibraryWarmUp:
    content = {name: getattr(found, name) for name in LibraryWarmUp.model_fields if name != "side"}
    return LibraryWarmUp.model_validate({"side": found.part, **content})


def _library(target: Target, engine: str, version: str | None) -> Library:
    return Library(name=target.name, driver=target.driver, engine=engine, version=version)


def _settings(rows: list[Row]) -> list[ComparedSetting]:
    """One entry for each setting and role, with both libraries side by side; shared ones first."""
    found: dict[tuple[bool, str, str], ComparedSetting] = {}
    for row in sorted(rows, key=lambda row: (not row["is_shared"], row["role"] != "producer")):
        if row["role"] == ENGINE:
            continue
        key = (row["is_shared"], row["role"], row["name"])
        entry = found.setdefault(
            key,
            ComparedSetting(name=row["name"], role=row["role"], is_shared=row["is_shared"], a=None, b=None),
        )
        setattr(
            entry, row["side"], AppliedSetting(**{name: row[name] for name in AppliedSetting.model_fields})
        )
    return list(found.values())


def unequal_settings(plan: Comparison, settings: list[ComparedSetting]) -> Iterator[Cause]:
    """What the preset promises to be the same, and is not: a library has no such setting, or was told
    otherwise by its target."""
    for setting in settings:
        a, b = (None if side is None else side.value for side in (setting.a, setting.b))
        if setting.name in plan.shared_settings and setting.is_shared and not _is_same(a, b):
            values = f"{setting.name} ({setting.role}): A {a or 'has none'}, B {b or 'has none'}"
            yield cause(CauseCode.SETTINGS_DIFFER, values)


def _is_same(a: str | None, b: str | None) -> bool:
    """Libraries write numbers as they please: 5 is 5.0."""
    if a is None or b is None:
        return a == b
    try:
        return float(a) == float(b)
    except ValueError:
        return a.lower() == b.lower()


def _notes(plan: Comparison, found: list[Compared], *, is_mixed: bool) -> Iterator[Cause]:
    """`is_mixed`: the libraries' loops ran on different engines."""
    tainted = sum(row.is_tainted for row in found)
    if tainted:
        yield cause(CauseCode.CONTROL_FAILED, tainted_count=tainted, comparison_count=len(found))
    if is_mixed:
        yield cause(CauseCode.ENGINES_DIFFER)
    if plan.preset == "seed":
        yield cause(CauseCode.SEED_PRESET)
    if plan.process == "shared":
        yield cause(CauseCode.SHARED_PROCESS)
    if plan.bursts is not None:
        yield cause(CauseCode.BURSTS, message_count=plan.bursts.length, pause_s=plan.bursts.interval)
    if plan.acks_in_force == "0":
        yield cause(CauseCode.NO_ACKS)
    if "consume" in plan.operations and not plan.check_on_consume:
        yield cause(CauseCode.VALUES_NOT_CHECKED)
