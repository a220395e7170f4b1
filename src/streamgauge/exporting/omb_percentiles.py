"""Percentiles of each window of an OMB-like result: of its messages, as percentiles cannot be added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.buckets import middles_ns
from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.percentiles import percentiles_of
from streamgauge.core.run_dir import RunDir
from streamgauge.report.message_csv import message_batches
from streamgauge.report.result_tables import result_files
from streamgauge.tables.results import MEASURE, MESSAGES

_TOLD = ("case", "phase", "second")
Counts = dict[tuple[str, int], Counter[int]]
"""By leg and window: how many messages have each value."""


def window_percentiles(
    run: RunDir, case: str, begins: Sequence[int], end: int, legs: Sequence[str], shares: Sequence[float]
) -> Mapping[str, list[list[float]]]:
    """Leg → for each window what it has for each share, in ms; nothing of a leg that a window lacks.

    `begins`: the second with which each window begins; `end`: the one behind the last."""
    counts: Counts = {}
    for rows in _rows(run, case, legs):
        _count(counts, rows, begins, end, legs)
    windows = range(len(begins))
    return {
        leg: [_in_ms(counts[leg, place], shares) for place in windows]
        for leg in legs
        if all((leg, place) in counts for place in windows)
    }


def _in_ms(counts: Mapping[int, int], shares: Sequence[float]) -> list[float]:
    return [value / NS_PER_MS for value in percentiles_of(counts, shares)]


def _rows(run: RunDir, case: str, legs: Sequence[str]) -> Iterator[pa.RecordBatch]:
    times = {f"{time}_ns" for leg in legs for time in leg.split("_to_")}
    names = [*_TOLD, *sorted(times)]
    schema = pa.schema([MESSAGES.arrow_schema().field(name).with_nullable(True) for name in names])
    wanted = (pc.field("case") == case) & (pc.field("phase") == MEASURE)
    for file in result_files(run, MESSAGES):
        for batch in message_batches(run, file, schema):
            yield batch.filter(wanted)


def _count(
    counts: Counts, rows: pa.RecordBatch, begins: Sequence[int], end: int, legs: Sequence[str]
) -> None:
    second = rows.column("second").to_numpy()
    places = np.searchsorted(begins, second, side="right") - 1
    is_inside = (places >= 0) & (second < end)
    for leg in legs:
        begin_ns, end_ns = (rows.column(f"{time}_ns") for time in leg.split("_to_"))
        is_told = pc.and_(pc.is_valid(begin_ns), pc.is_valid(end_ns)).to_numpy(zero_copy_only=False)
        kept = is_inside & is_told
        taken = pc.subtract(end_ns, begin_ns).filter(pa.array(kept)).to_numpy(zero_copy_only=False)
        values = middles_ns(taken.astype(np.int64))
        for place in np.unique(places[kept]).tolist():
            found, times = np.unique(values[places[kept] == place], return_counts=True)
            counts.setdefault((leg, place), Counter()).update(
                dict(zip(found.tolist(), times.tolist(), strict=True))
            )
