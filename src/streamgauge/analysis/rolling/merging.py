"""What was rolled up and what is left of the events, together as if nothing had been rolled up.

Counts, sums and extremes come out the same; percentiles are those of the same buckets. At most one roll-up's
seconds are in memory at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.feeding.fed import Fed
from streamgauge.analysis.feeding.reading import read_groups
from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.joining.cells import CELLS
from streamgauge.analysis.latency import histogram, latency
from streamgauge.analysis.message_rows import ROLLED_FILE
from streamgauge.analysis.result_rows import write_packed
from streamgauge.analysis.rolling.files import (
    CELLS_FILE,
    MESSAGES_FILE,
    SECONDS_FILE,
    read_part_table,
    read_totals,
)
from streamgauge.analysis.rolling.late_copies import LOOKED_AT, late_copies
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.roll_up_file import RollUp, finish, last_roll_up, part_folders
from streamgauge.tables.events import RECEIVES
from streamgauge.tables.results import MESSAGES, SECOND

_SECONDS = pa.schema([("second", pa.int32())])


def rolled_up_cases(run: RunDir, plan: Plan) -> dict[str, RollUp]:
    """What was begun is finished first. Only folders of this host have any."""
    found: dict[str, RollUp] = {}
    for case in plan.cases if run.is_local else ():
        finish(run, case.id)
        if (last := last_roll_up(run, case.id)) is not None:
            found[case.id] = last
    return found


def rolled_to(run: RunDir, rolled: Mapping[str, RollUp]) -> dict[str, int]:
    """By case: the last second of which something was rolled up."""
    return {case: max((max(own) for own in _seconds(run, case) if own), default=-1) for case in rolled}


def merged(
    run: RunDir, plan: Plan, fed: Fed, rolled: Mapping[str, RollUp], groups: Sequence[RowGroup]
) -> Fed:
    """`groups`: of the events that are left."""
    topics = {case.id: case.topics for case in plan.cases}
    for case, last in rolled.items():
        _write_messages(run, case)
        records = (
            read_groups(run, RECEIVES, [group], LOOKED_AT)
            for group in groups
            if group.case == case and group.table == RECEIVES.name
        )
        late = late_copies(last, records).by_place
        fed = _with_latencies(run, case, last, fed)._replace(
            cells=pa.concat_tables([fed.cells, *_tables(run, case, CELLS_FILE, CELLS)]),
            strays=pa.concat_tables([fed.strays, _strays(case, topics[case], late, fed.strays.schema)]),
        )
    return fed


def _with_latencies(run: RunDir, case: str, last: RollUp, fed: Fed) -> Fed:
    seconds = _seconds(run, case)
    is_second = pc.equal(fed.latency["scope"], SECOND)
    is_own = pc.equal(fed.latency["case"], case)
    own = fed.latency.filter(pc.and_(is_own, is_second))
    times = Counter(second for part in (*seconds, set(own["second"].to_pylist())) for second in part)
    shared = pa.array([second for second, count in times.items() if count > 1], pa.int32())
    left = fed.buckets.filter(pc.field("case") == case)
    together, alone = [read_totals(run, case, last.number), _of(left, shared)], []
    for folder in part_folders(run, case):
        part = read_part_table(run, f"{folder}/{SECONDS_FILE}", BUCKETS)
        together.append(part.filter(pc.is_in(part["second"], shared)))
        alone.append(latency(part.filter(pc.invert(pc.is_in(part["second"], shared)))))
    wholes = pa.concat_tables(together)
    kept = own.filter(pc.invert(pc.is_in(own["second"], shared)))
    others = fed.latency.filter(pc.invert(is_own))
    of_others = fed.histogram.filter(pc.field("case") != case)
    return fed._replace(
        latency=pa.concat_tables([others, kept, latency(wholes), *alone]),
        histogram=pa.concat_tables([of_others, histogram(wholes)]),
    )


def _of(buckets: pa.Table, seconds: pa.Array) -> pa.Table:
    is_whole = pc.not_equal(buckets["scope"], SECOND)
    return buckets.filter(pc.or_(is_whole, pc.is_in(buckets["second"], seconds)))


def _seconds(run: RunDir, case: str) -> list[set[int]]:
    return [set(part["second"].to_pylist()) for part in _tables(run, case, SECONDS_FILE, _SECONDS)]


def _tables(run: RunDir, case: str, file: str, schema: pa.Schema) -> list[pa.Table]:
    return [read_part_table(run, f"{folder}/{file}", schema) for folder in part_folders(run, case)]


def _write_messages(run: RunDir, case: str) -> None:
    """Rows that were kept, beside those of the messages that are left."""
    for number, folder in enumerate(part_folders(run, case)):
        part = read_part_table(run, f"{folder}/{MESSAGES_FILE}", MESSAGES.arrow_schema())
        write_packed(run, f"{run.result(MESSAGES.name)}/{ROLLED_FILE}{case}-{number:05d}.parquet", part)


def _strays(
    case: str, topics: Sequence[str], late: Mapping[tuple[int, int], int], schema: pa.Schema
) -> pa.Table:
    """The kernel knew of no send of theirs: what it took for unexpected is one copy more."""
    count = np.array(list(late.values()), np.int64)
    columns = {
        "case": [case] * len(late),
        "topic": [topics[topic] if topic < len(topics) else f"topic-{topic}" for topic, _ in late],
        "partition": [partition for _, partition in late],
        "corrupt": np.zeros(len(late), np.int64),
        "unexpected": -count,
        "duplicate": count,
    }
    return pa.table({name: pa.array(columns[name], schema.field(name).type) for name in schema.names})
