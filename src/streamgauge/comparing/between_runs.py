"""What runs of the same workload are apart by, where repeats of a comparison do not say it.

A figure has another level in every run, by more than its own blocks tell. Earlier runs of the workload on
the same machine show by how much. They are taken one after another: if the level changed for good between two
of them, that is one large step among many small ones, and the median of the steps does not see it. A few runs
show little, so what is usual goes on counting beside them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from streamgauge.comparing.document import SpreadSource
from streamgauge.comparing.measured import MeasuredRun, case_settings
from streamgauge.comparing.ratio import USUAL_WEIGHT
from streamgauge.comparing.series import is_of
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import Validity
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.results import stored_document
from streamgauge.spec.metrics import RATE, Metric

USUAL_PERCENT = 3.0
"""SD, where nothing is known. It is a guess: medians of one client on a quiet machine were that far apart."""
FEWEST_RUNS = 5
MOST_RUNS = 30
"""The newest: what a machine was like long ago says little of it now."""
_TAIL, _TAILS_FACTOR = 0.95, 2.0
"""Tails are apart by more: a pause more or less is most of a p99."""
LEARNED_WEIGHT = 6
"""As if so many repeats had shown it: a median of a dozen steps is hardly surer than that."""
_USUALS_STEPS = 2
"""What is usual counts beside what was learned as so many steps. Both were chosen by 6,000 drawn pairs of
machines with 1% to 20% between runs, after 5 to 30 earlier ones (decision 60)."""
_MEDIAN_OF_SQUARES = 0.4549
"""Of a normal variable with SD 1."""
_FIGURES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99.9": "p99_9", "mean": "mean"}


@dataclass(frozen=True)
class Spread:
    percent: float = USUAL_PERCENT
    source: SpreadSource = SpreadSource.USUAL
    learned: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """SD as a share, by settings and metric."""
    run_count: int = 0
    """From how many earlier runs."""

    @property
    def most_percent(self) -> float:
        """Of the figure that varies most."""
        return 100 * max(self.learned.values()) if self.learned else self.percent

    def sd(self, settings: Mapping[str, Any], metric: Metric) -> tuple[float, int]:
        """As a share, and how many repeats it weighs as."""
        known = self.learned.get((_key(settings), metric.name))
        if known is not None:
            return known, LEARNED_WEIGHT
        return usual_sd(metric.share, self.percent), USUAL_WEIGHT


USUAL = Spread()


def usual_sd(share: float | None, percent: float = USUAL_PERCENT) -> float:
    """`share`: of a percentile."""
    is_tail = share is not None and share >= _TAIL
    return percent / 100 * (_TAILS_FACTOR if is_tail else 1.0)


def spread_for(
    base: Sequence[MeasuredRun],
    new: Iterable[Sequence[MeasuredRun]],
    runs: Iterable[RunDir],
    asked_percent: float | None = None,
) -> Spread:
    """`runs`: all that lie beside the base; what is held against it says nothing of how much it varies."""
    if asked_percent is not None:
        return Spread(asked_percent, SpreadSource.ASKED)
    judged = {run.id for side in new for run in side}
    first = base[0].document
    others = (run for run in runs if run.id not in judged)
    return learned_spread(others, (first.name, first.kind), first.environment.get("hostname"))


def learned_spread(runs: Iterable[RunDir], wanted: tuple[str, str], host: object) -> Spread:
    """Of those runs that are of this name and kind, and of this machine."""
    found = [run for run in runs if is_of(run, wanted)]
    documents = [document for run in found[-MOST_RUNS:] if (document := _document(run, host))]
    series: dict[tuple[str, str], list[float]] = {}
    for document in documents:
        for place, value in _figures(document):
            series.setdefault(place, []).append(value)
    learned = {
        place: learned_sd(values, usual_sd(_share(place[1])))
        for place, values in series.items()
        if len(values) >= FEWEST_RUNS
    }
    if not learned:
        return USUAL
    count = max(len(values) for values in series.values())
    return Spread(USUAL_PERCENT, SpreadSource.EARLIER_RUNS, learned, count)


def learned_sd(values: Sequence[float], usual: float) -> float:
    """Of figures of runs, one after another, and a little of what is usual."""
    logs = [math.log(value) for value in values]
    steps = [(after - before) ** 2 for before, after in pairwise(logs)]
    variance = median(steps) / 2 / _MEDIAN_OF_SQUARES
    return math.sqrt((_USUALS_STEPS * usual**2 + len(steps) * variance) / (_USUALS_STEPS + len(steps)))


def _document(run: RunDir, host: object) -> CasesDocument | None:
    try:
        found = stored_document(run)
    except StreamgaugeError:
        return None
    if not isinstance(found, CasesDocument) or found.environment.get("hostname") != host:
        return None
    return found


def _figures(document: CasesDocument) -> Iterator[tuple[tuple[str, str], float]]:
    """Once for each case, rounds being repeats of their own."""
    seen = set()
    for case in document.cases:
        key = _key(case_settings(case))
        if case.validity.verdict is not Validity.VALID or key in seen:
            continue
        seen.add(key)
        for name, value in _of_case(case):
            if value is not None and value > 0:
                yield (key, name), value


def _of_case(case: Case) -> Iterator[tuple[str, float | None]]:
    for name, field_name in _FIGURES.items():
        yield name, getattr(case.main_latency, field_name)
    yield RATE.name, case.out_per_s


def _share(name: str) -> float | None:
    return float(name[1:]) / 100 if name.startswith("p") else None


def _key(settings: Mapping[str, Any]) -> str:
    return json.dumps(dict(settings), sort_keys=True, default=str)
