"""Figures of one case while its run goes on: what a search has to know before it chooses the next rate.

Not by Spark: its slots belong to the agents, and planning the whole analysis takes longer than a step. The
definitions are those of `messages`, `accounting` and `throughput`, and a test holds these figures
against theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.core.clock import NS_PER_MS, NS_PER_S
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.spec.objective import LATENCY_FIGURES
from streamgauge.tables.column import Table
from streamgauge.tables.events import CORRUPT, INTACT, MARKS, RECEIVES, SENDS, UNEXPECTED
from streamgauge.tables.results import PERCENTILES

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_SEQUENCE_BITS = 40
"""Of a message's key; the producer's number is above."""
_DELIVERED = "delivered_per_s"


def step_figures(run: RunDir, case: Case) -> dict[str, float | None]:
    """Latencies in ms from the intended time, counts and the rate delivered; of measured messages only."""
    clocks = _clock_offsets(run, case)
    sends = _Sends.read(run, case, clocks)
    receives = _read(run, RECEIVES, case)
    state = _integers(receives, "state")
    intact = receives.filter(pa.array(state == INTACT))
    keys = _keys(intact)
    received_ns = _integers(intact, "received_ns") + _offsets(clocks, "consumer", intact)
    first_keys, first_ns, copies = _first_copies(keys, received_ns)
    place = np.searchsorted(first_keys, sends.keys)
    is_received = np.zeros(len(sends.keys), bool)
    inside = place < len(first_keys)
    is_received[inside] = first_keys[place[inside]] == sends.keys[inside]
    arrived_ns = first_ns[place[is_received]]
    damaged = receives.filter(pa.array(state != INTACT))
    missing = sends.is_acked & ~is_received & ~_at_places(sends.table, damaged)
    figures: dict[str, float | None] = {
        "lost": float(missing.sum()),
        "failed": float(sends.is_failed.sum()),
        "duplicate": float((copies[place[is_received]] - 1).sum()),
        "out_of_order": float(_overtaken(intact, keys, sends.keys)),
        "corrupt": float((state == CORRUPT).sum()),
        "unexpected": float((state == UNEXPECTED).sum()),
        _DELIVERED: _rate(arrived_ns),
        "sent": float(len(sends.keys)),
    }
    return figures | _latencies(arrived_ns - sends.intended_ns[is_received])


@dataclass(frozen=True)
class _Sends:
    """The measured ones of a case; on the reference clock."""

    table: pa.Table
    keys: Integers
    intended_ns: Integers
    is_acked: Bools
    is_failed: Bools

    @classmethod
    def read(cls, run: RunDir, case: Case, clocks: dict[tuple[str, int], int]) -> _Sends:
        every = _read(run, SENDS, case)
        warm_ups = {
            part.number: part.warm_up_messages
            for agent in case.agents
            if agent.kind == "producer"
            for part in agent.streams or (agent,)
        }
        limits = _mapped(_integers(every, "producer"), warm_ups)
        table = every.filter(pa.array(_integers(every, "sequence") >= limits))
        is_failed = table["error"].is_valid().to_numpy()
        # Without delivery reports nothing is known to be acknowledged; but what was sent is to arrive.
        is_acked = table["acked_ns"].is_valid().to_numpy() if case.load.completions else ~is_failed
        return cls(
            table,
            _keys(table),
            _integers(table, "intended_ns") + _offsets(clocks, "producer", table),
            is_acked & ~is_failed,
            is_failed,
        )


def _read(run: RunDir, table: Table, case: Case) -> pa.Table:
    files = list(run.list_files(run.events(table.name, case.id), ".parquet"))
    if not files:
        return table.arrow_schema().empty_table()
    parts = []
    for file in files:
        with run.open_input(file) as stream:
            parts.append(pq.ParquetFile(stream).read())
    return pa.concat_tables(parts)


def _clock_offsets(run: RunDir, case: Case) -> dict[tuple[str, int], int]:
    """By kind and number: what the latest `start` mark of an agent says to add to its times."""
    starts = [row for row in _read(run, MARKS, case).to_pylist() if row["mark"] == "start"]
    starts.sort(key=lambda row: int(row["at_ns"]))
    return {(row["kind"], row["number"]): row["reference_offset_ns"] for row in starts}


def _offsets(clocks: dict[tuple[str, int], int], kind: str, table: pa.Table) -> Integers:
    known = {number: offset for (of_kind, number), offset in clocks.items() if of_kind == kind}
    return _mapped(_integers(table, kind), known)


def _mapped(numbers: Integers, values: dict[int, int]) -> Integers:
    """0 for a number that has no value."""
    found = np.zeros(len(numbers), np.int64)
    for number in np.unique(numbers):
        found[numbers == number] = values.get(int(number), 0)
    return found


def _integers(table: pa.Table, name: str) -> Integers:
    values: Integers = table[name].to_numpy().astype(np.int64)
    return values


def _keys(table: pa.Table) -> Integers:
    return (_integers(table, "producer") << _SEQUENCE_BITS) + _integers(table, "sequence")


def _first_copies(keys: Integers, received_ns: Integers) -> tuple[Integers, Integers, Integers]:
    """Each key once, in order, with the time of its first copy and how many there were."""
    order = np.lexsort((received_ns, keys))
    unique, first, copies = np.unique(keys[order], return_index=True, return_counts=True)
    return unique, received_ns[order][first], copies


def _at_places(sends: pa.Table, damaged: pa.Table) -> Bools:
    """Sends at whose place in the log something damaged was read: these are corrupt, not lost."""
    names = ["topic", "partition", "offset"]
    places = {tuple(row.values()) for row in damaged.select(names).to_pylist()}
    if not places:
        return np.zeros(sends.num_rows, bool)
    return np.array([tuple(row.values()) in places for row in sends.select(names).to_pylist()], bool)


def _overtaken(intact: pa.Table, keys: Integers, measured: Integers) -> int:
    """Measured messages whose first copy came after a later one of their producer and partition."""
    if not len(keys):
        return 0
    columns = [_integers(intact, name) for name in ("consumer", "producer", "topic", "partition")]
    order = np.lexsort((_integers(intact, "arrival"), *reversed(columns)))
    changes = np.any([np.diff(column[order], prepend=-1) != 0 for column in columns], axis=0)
    # Each group counts from a level above all of the one before, so one running maximum serves all.
    levels = (np.cumsum(changes) << _SEQUENCE_BITS) + _integers(intact, "sequence")[order]
    reached = np.maximum.accumulate(levels)
    late = np.zeros(len(keys), bool)
    late[order[1:]] = levels[1:] < reached[:-1]
    by_time = np.lexsort((_integers(intact, "received_ns"), keys))
    _, first = np.unique(keys[by_time], return_index=True)
    first_copies = by_time[first]
    return int((late[first_copies] & np.isin(keys[first_copies], measured)).sum())


def _rate(arrived_ns: Integers) -> float | None:
    """n arrivals have n − 1 gaps."""
    span_s = (arrived_ns.max() - arrived_ns.min()) / NS_PER_S if len(arrived_ns) else 0.0
    return float((len(arrived_ns) - 1) / span_s) if span_s > 0 else None


def _latencies(latency_ns: Integers) -> dict[str, float | None]:
    if not len(latency_ns):
        return dict.fromkeys(LATENCY_FIGURES)
    in_ms = latency_ns / NS_PER_MS
    shares = {name: PERCENTILES.get(name.replace(".", "_")) for name in LATENCY_FIGURES}
    found: dict[str, float | None] = {
        name: float(np.quantile(in_ms, share)) for name, share in shares.items() if share is not None
    }
    return found | {"mean": float(in_ms.mean()), "max": float(in_ms.max())}
