"""Messages of a case in blocks: equal stretches of its measured time, one after another.

Messages of one run are not independent: a stall touches thousands. What blocks of some length differ by tells
how sure a figure of the whole run is, so everything that is said of an interval begins here. A case may have
any number of messages: they are counted by block and value, never held together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.report.result_tables import result_files
from streamgauge.tables.results import MEASURE, MESSAGES

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCKS = 12
"""Few enough that a block is longer than most disturbances, enough to know what blocks differ by."""
_ROWS = 262_144
_KEPT_BITS = 11
"""Values that agree in 12 leading bits are one: within 0.03% of each other's middle."""
_SHIFT = 52 - _KEPT_BITS
_BY_BLOCK = 2**48


@dataclass(frozen=True)
class Times:
    """Of which two times of a message its latency is, and at which it counts as through."""

    begin: str
    end: str
    out: str


@dataclass(frozen=True)
class Blocks:
    """One case of one run."""

    values_ns: Floats
    """That came, ascending."""
    counts: Integers
    """Messages by block of their intended time, and by value."""
    out_counts: Integers
    """Messages by block of the time at which they were through."""

    @cached_property
    def sums(self) -> Integers:
        """Messages of each block."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def reached(self) -> Integers:
        """How many messages took no longer than each value."""
        return np.cumsum(self.counts.sum(axis=0))


def blocks_of(latencies_ns: Integers, intended_ns: Integers, out_ns: Integers) -> Blocks:
    """Of messages that are all at hand."""
    gathered = _Gathered(_ends([intended_ns]), _ends([out_ns]))
    gathered.add(latencies_ns, intended_ns, out_ns)
    return gathered.blocks()


def read_blocks(run: RunDir, times: dict[str, Times]) -> dict[str, Blocks]:
    """By case, of those that have messages with all of their times."""
    files = result_files(run, MESSAGES)
    ends: dict[str, list[Integers]] = {}
    for case, columns in _columns(run, files, times):
        ends.setdefault(case, []).append(np.array([*_ends([columns[0]]), *_ends([columns[2]])]))
    gathered = {
        case: _Gathered(_ends([each[:2] for each in found]), _ends([each[2:] for each in found]))
        for case, found in ends.items()
    }
    for case, (intended, latencies, out) in _columns(run, files, times):
        gathered[case].add(latencies, intended, out)
    return {case: found.blocks() for case, found in gathered.items()}


class _Gathered:
    def __init__(self, intended: tuple[int, int], out: tuple[int, int]) -> None:
        self._intended, self._out = intended, out
        self._keys, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._out_counts = np.zeros(BLOCKS, np.int64)

    def add(self, latencies_ns: Integers, intended_ns: Integers, out_ns: Integers) -> None:
        keys = _places(intended_ns, self._intended) * _BY_BLOCK + _bucket(latencies_ns)
        keys, counts = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        weights = np.concatenate([self._counts, np.ones(len(latencies_ns), np.int64)])
        self._keys, self._counts = keys, np.bincount(counts, weights).astype(np.int64)
        self._out_counts += np.bincount(_places(out_ns, self._out), minlength=BLOCKS)

    def blocks(self) -> Blocks:
        places, columns = np.unique(self._keys % _BY_BLOCK, return_inverse=True)
        counts = np.zeros((BLOCKS, len(places)), np.int64)
        counts[self._keys // _BY_BLOCK, columns] = self._counts
        return Blocks(_middles_ns(places), counts, self._out_counts)


def _columns(
    run: RunDir, files: Iterable[str], times: dict[str, Times]
) -> Iterator[tuple[str, tuple[Integers, Integers, Integers]]]:
    """Case by case and batch by batch: intended times, latencies, times of being through."""
    names = {name for each in times.values() for name in (each.begin, each.end, each.out)}
    wanted = ["case", "phase", "intended_ns", *sorted(f"{name}_ns" for name in names - {"intended"})]
    for file in files:
        for batch in _batches(run, file, wanted):
            measured = batch.filter(pc.equal(batch.column("phase"), MEASURE))
            for case in pc.unique(measured.column("case")).to_pylist():
                if case not in times:
                    continue
                rows = measured.filter(pc.equal(measured.column("case"), case))
                of = times[case]
                needed = [f"{name}_ns" for name in (of.begin, of.end, of.out)]
                for name in dict.fromkeys(needed):
                    rows = rows.filter(pc.is_valid(rows.column(name)))
                if rows.num_rows:
                    intended, begin, end, out = (
                        rows.column(name).to_numpy() for name in ("intended_ns", *needed)
                    )
                    yield case, (intended, end - begin, out)


def _batches(run: RunDir, file: str, wanted: list[str]) -> Iterator[pa.Table]:
    try:
        with run.open_input(file) as stream:
            for batch in pq.ParquetFile(stream).iter_batches(_ROWS, columns=wanted):
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise CorruptRun(
            f"{run.url(file)}: cannot be read as result table `{MESSAGES.name}`: "
            f"{' '.join(str(error).split())}; make it anew with: streamgauge analyze {run.location}"
        ) from None


def _ends(times_ns: Iterable[Integers]) -> tuple[int, int]:
    found = np.concatenate(list(times_ns))
    return int(found.min()), int(found.max())


def _places(times_ns: Integers, ends: tuple[int, int]) -> Integers:
    """In which block each time is."""
    first, last = ends
    places = (times_ns - first) * BLOCKS // max(1, last - first + 1)
    return np.asarray(places, np.int64)


def _bucket(latencies_ns: Integers) -> Integers:
    """A double's bits are its logarithm in steps. What is 0 or less has the first bucket."""
    places = np.maximum(latencies_ns, 0).astype(np.float64).view(np.int64) >> _SHIFT
    return np.asarray(places, np.int64)


def _middles_ns(places: Integers) -> Floats:
    low, high = ((places + step << _SHIFT).view(np.float64) for step in (0, 1))
    return np.where(places == 0, 0.0, (low + high) / 2)
