"""Each library's own times in each cell, to be set beside those of another run.

Which library is faster is said within a run, by pairs. Between runs it is asked whether one has changed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from streamgauge.comparing.estimates import Estimate, estimate_about
from streamgauge.comparing.measured import Measured, Told
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.families.compare.document import LIBRARIES, Compared, CompareDocument
from streamgauge.families.compare.places import place_words
from streamgauge.families.compare.result_tables import REPETITIONS
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.metrics import Metric, duration

TIME = duration("time")
"""Of one repetition: all messages of a cell; the geometric mean over repetitions."""
_FEWEST = 3
_US_PER_MS = 1000.0

Place = tuple[Any, ...]


def measured_comparisons(document: CompareDocument, tables: ResultTables) -> list[Measured]:
    times_us = _times_us(tables)
    return [
        _measured(document, row, side, times_us[(*_place(row), side)])
        for row in document.comparisons
        for side in LIBRARIES
    ]


def _times_us(tables: ResultTables) -> dict[Place, list[float]]:
    """By place and side, in the order of the repetitions; the first, which warms up, does not count."""
    found: dict[Place, dict[int, float]] = defaultdict(dict)
    for row in tables.tables[REPETITIONS.name].to_pylist():
        if row["repetition"] >= 0 and row["elapsed_us"] is not None:
            place = (row["operation"], row["temperature"], row["messages"], row["length"], row["side"])
            found[place][row["repetition"]] = row["elapsed_us"]
    ordered = {place: [times[number] for number in sorted(times)] for place, times in found.items()}
    return defaultdict(list, ordered)


def _place(row: Compared) -> Place:
    return row.operation, row.temperature, row.messages, row.length


def _measured(document: CompareDocument, row: Compared, side: str, times_us: list[float]) -> Measured:
    conditions = document.comparison
    library = conditions.a if side == "a" else conditions.b
    settings = {
        "library": library.name,
        "driver": library.driver,
        "engine": library.engine,
        "operation": row.operation,
        "temperature": row.temperature,
        "messages": row.messages,
        "length": row.length,
        **conditions.model_dump(
            mode="json", include={"preset", "acks", "compression", "partitions", "replicas", "process"}
        ),
    }
    return Measured(
        document.run,
        f"{library.name}, {place_words(row.operation, row.temperature, row.messages, row.length)}",
        settings,
        row.integrity.verdict,
        row.validity,
        [TIME],
        partial(_estimate, times_us),
    )


def _estimate(times_us: Sequence[float], metric: Metric) -> Told:
    if metric != TIME or len(times_us) < _FEWEST or min(times_us) <= 0:
        return cause(CauseCode.NOTHING_MEASURED)
    logs = np.log(np.array(times_us) / _US_PER_MS)
    found: Estimate = estimate_about(math.exp(float(logs.mean())), logs - logs.mean())
    return found
