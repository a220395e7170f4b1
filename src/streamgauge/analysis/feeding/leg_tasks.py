"""Latencies of buckets that tasks have left in files: a task takes a leg and reads what there is of it.

Nothing goes through a shuffle: buckets of a leg lie together in each file, and only those are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.latency import histogram, latency
from streamgauge.core.run_dir import RunDir

ROWS_A_GROUP = 16_384
"""Of a file of buckets: few enough that most row groups have buckets of one leg only."""


class LegTables:
    """Tables `latency` and `histogram` of legs, computed where this is called."""

    def __init__(self, location: str, files: Sequence[str]) -> None:
        self._location, self._files = location, list(files)

    def __call__(self, tasks: Iterable[list[tuple[int, str]]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        run = RunDir(self._location)
        for leg in (leg for task in tasks for _, leg in task):
            buckets = pa.concat_tables(
                [BUCKETS.empty_table(), *(_of_leg(run, file, leg) for file in self._files)]
            )
            yield latency(buckets), histogram(buckets)


def _of_leg(run: RunDir, file: str, leg: str) -> pa.Table:
    with run.open_input(file) as stream:
        return pq.read_table(stream, filters=[("leg", "==", leg)], use_threads=False).cast(BUCKETS)
