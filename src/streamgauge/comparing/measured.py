"""What is compared: parts of a run with settings, verdicts and figures, whichever family it is of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from streamgauge.comparing.blocks import Blocks, Times
from streamgauge.comparing.estimates import Estimate, mean_estimate, percentile_estimate, rate_estimate
from streamgauge.comparing.kept_blocks import blocks_of_run
from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Cause, CauseCode, Integrity, cause
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.document import Document, ValidityVerdict
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.settings_text import by_path
from streamgauge.spec.families import family_of
from streamgauge.spec.metrics import RATE, BoundUnit, Metric, duration, percentile
from streamgauge.tables.percentile_support import fewest_beyond

Told = Estimate | Cause
"""A figure; or why there is none."""


@dataclass(frozen=True)
class Measured:
    """One part of a run."""

    run: str
    case: str
    settings: Mapping[str, Any]
    """All that was asked for: parts with the same settings are repeats of each other."""
    integrity: Integrity
    validity: ValidityVerdict
    metrics: Sequence[Metric]
    """Those that are shown."""
    estimate: Callable[[Metric], Told]
    """Of any metric of its family, in ms or a second."""


@dataclass(frozen=True)
class MeasuredRun:
    run: RunDir
    document: Document
    parts: Sequence[Measured]

    @property
    def id(self) -> str:
        return self.document.run


def measured_run(run: RunDir) -> MeasuredRun:
    """Of one that was analysed; else one line says what is missing."""
    tables = ResultTables.read(run)
    document = results_document(run, tables)
    own = family_of(document.kind).measured(document, tables)
    if own is None:
        if not isinstance(document, CasesDocument):
            raise BadInput(
                f"{run.location}: runs of kind {document.kind} have no figures to set side by side"
            )
        own = measured_cases(run, document)
    return MeasuredRun(run, document, own)


def measured_cases(
    run: RunDir, document: CasesDocument, only: Collection[str] | None = None
) -> list[Measured]:
    """`only`: ids of the cases that are asked for, when not all are: every message of theirs is read."""
    cases = [case for case in document.cases if only is None or case.case in only]
    # Of messages that were rolled up the slowest are left: no blocks of these tell of the others.
    times = {case.case: _times(case) for case in cases if case.is_measured and not _rolled_up(case)}
    blocks = blocks_of_run(run, times)
    return [
        Measured(
            document.run,
            case.case,
            case_settings(case),
            case.integrity.verdict,
            case.validity,
            _metrics(case),
            partial(_estimate, case, blocks.get(case.case)),
        )
        for case in cases
    ]


def _times(case: Case) -> Times:
    begin, _, end = case.main_leg.partition("_to_")
    return Times(begin, end, case.out_time)


def _metrics(case: Case) -> list[Metric]:
    """A load without pace is quoted for its rate: its latency is that of its own queue."""
    if case.parameters.rate == "unlimited":
        return [RATE]
    latency = [percentile(name) for name in ("p50", "p90", "p99", "p99.9")]
    return [*(found for found in latency if found is not None), duration("mean"), RATE]


def _rolled_up(case: Case) -> bool:
    return case.verification is not None and case.verification.rolled_up > 0


def _estimate(case: Case, blocks: Blocks | None, metric: Metric) -> Told:
    nothing = cause(CauseCode.ROLLED_UP if _rolled_up(case) else CauseCode.NOTHING_MEASURED)
    if blocks is None:
        return nothing
    if metric == RATE:
        per_s = case.out_per_s
        return (rate_estimate(blocks, per_s) if per_s else None) or nothing
    if metric.share is None:
        found = mean_estimate(blocks) if metric.name == "mean" else None
        return nothing if found is None else in_ms(found)
    count, needed = int(blocks.reached[-1]), fewest_beyond(metric.share)
    if count < needed:
        return cause(CauseCode.TOO_FEW_MESSAGES, about=metric.name, message_count=count, needed_count=needed)
    found = percentile_estimate(blocks, metric.share)
    return cause(CauseCode.NOT_ABOVE_ZERO) if found is None else in_ms(found)


def in_ms(found: Estimate) -> Estimate:
    """Blocks are in ns."""
    limits = found.limits
    if limits is None:
        return Estimate(found.value / NS_PER_MS)

    def limits_ms(confidence: float) -> tuple[float, float]:
        low, high = limits(confidence)
        return low / NS_PER_MS, high / NS_PER_MS

    return Estimate(found.value / NS_PER_MS, limits_ms)


def case_settings(case: Case) -> dict[str, Any]:
    """The load in force, without what a run found out itself, and names that each run has of its own."""
    content = case.parameters.model_dump(mode="json", exclude={"swept", "topics"})
    found = {"target": case.target, "driver": case.driver, "topics": len(case.parameters.topics)}
    if content.pop("warm_up_ended") is not None:
        del content["warm_up_messages"]
    del content["warm_up_s"]
    return {**found, **by_path(content, ".")}


def unit_of(metric: Metric) -> str:
    """What its estimates are in."""
    return BoundUnit.PER_S.value if metric == RATE else BoundUnit.MS.value


def is_better_lower(metric: Metric) -> bool:
    return metric != RATE
