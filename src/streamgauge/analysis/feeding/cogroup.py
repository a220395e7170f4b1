"""More damage than can be taken along, or a folder that tasks do not get at: Spark reads, brings together
what belongs together, and the kernel joins each piece.

A piece is what a few producers sent from one sequence to another, and all that was read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from streamgauge.analysis.feeding.bucket_tasks import latency_by_tasks
from streamgauge.analysis.feeding.fed import (
    NOTHING_ROLLED,
    Fed,
    all_facts,
    all_strays,
    starts_of,
    to_be_added,
)
from streamgauge.analysis.feeding.later_arrivals import later_arrivals
from streamgauge.analysis.feeding.packing import Cut, cuts_of
from streamgauge.analysis.feeding.reading import JOINED_OF_RECEIVES, rows_by_case
from streamgauge.analysis.feeding.row_group_tasks import MOST_DAMAGE
from streamgauge.analysis.feeding.slices import BEYOND, USUAL, Cutting, RowGroup
from streamgauge.analysis.joining.buckets import BUCKETS
from streamgauge.analysis.joining.facts import AgentClocks, CaseFacts, Stream
from streamgauge.analysis.joining.join import Joined, join
from streamgauge.analysis.joining.messages import DAMAGED_RECORDS
from streamgauge.analysis.joining.strays import CLAIMED
from streamgauge.analysis.joining.survey import (
    DAMAGE,
    FIRSTS,
    REACH,
    SURVEYED_OF_RECEIVES,
    SURVEYED_OF_SENDS,
    Survey,
    damage_of,
    firsts_of,
    merged,
    reach_of,
)
from streamgauge.analysis.storage import local_frame, read_events, write_messages
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.events import INTACT, RECEIVES, SENDS
from streamgauge.tables.results import MESSAGES, SECOND

_CUTS = pa.schema([("case", pa.string()), ("width", pa.int64()), ("producers", pa.int64())])
_PIECE = ("case", "share", "piece")
_PLACE = ["case", "topic", "partition", "offset"]

Key = tuple[str, int, int]
"""Case, number of the share of producers, number of the piece."""


def feed_by_cogroup(
    session: SparkSession,
    run: RunDir,
    plan: Plan,
    groups: Sequence[RowGroup],
    clocks: Mapping[str, AgentClocks],
    cutting: Cutting = USUAL,
    rolled_to: Mapping[str, int] = NOTHING_ROLLED,
) -> Fed:
    sends, receives = (read_events(session, run, table) for table in (SENDS, RECEIVES))
    survey, damage = _surveyed(sends, receives, cutting.block)
    if damage is not None:
        sends = _with_damage(sends, damage)
    facts = all_facts(plan, clocks, survey, with_damage=damage is None)
    cuts = cuts_of(groups, cutting)
    later = _later(survey, cuts, cutting.block)
    frame = local_frame(session, _cut_table(cuts))
    pieces = _in_pieces(sends, frame).cogroup(
        _in_pieces(receives.where(fn.col("state") == INTACT).select("case", *JOINED_OF_RECEIVES), frame)
    )
    joined = pieces.applyInArrow(_joining(session, facts, later), _joined_schema())
    # Once computed, read for each of its tables.
    joined.persist(StorageLevel.DISK_ONLY)
    try:
        write_messages(run, MESSAGES, _rows(joined, "messages"))
        latencies, histogram = latency_by_tasks(_rows(joined, "buckets"))
        added = _to_be_added(_rows(joined, "buckets"), rolled_to)
        cells, unsent = (_rows(joined, name).toArrow() for name in ("cells", "strays"))
        left, claimed = _unclaimed(survey, damage, _rows(joined, "claimed"))
    finally:
        joined.unpersist()
    return Fed(
        starts_of(survey, facts), cells, all_strays(unsent, left, claimed, facts), latencies, histogram, added
    )


def _to_be_added(buckets: DataFrame, rolled_to: Mapping[str, int]) -> pa.Table:
    if not rolled_to:
        return BUCKETS.empty_table()
    # Of seconds in which something was rolled up little is left: then it is few enough to be looked at here.
    last = max(rolled_to.values())
    few = buckets.where((fn.col("scope") != SECOND) | (fn.col("second") <= last))
    return to_be_added(few.toArrow().cast(BUCKETS), rolled_to)


def _surveyed(sends: DataFrame, receives: DataFrame, block: int) -> tuple[Survey, DataFrame | None]:
    """Damage as a frame when it is too much to take along, and then it is not in the survey."""
    firsts = _gathered(sends.select("case", *SURVEYED_OF_SENDS), firsts_of, FIRSTS).toArrow()
    looked_at = receives.select("case", *SURVEYED_OF_RECEIVES)
    reach = _gathered(looked_at, partial(reach_of, block=block), REACH).toArrow()
    survey = Survey(merged(FIRSTS, [firsts]), merged(REACH, [reach]), DAMAGE.empty_table())
    if not any(survey.reach["damaged"].to_pylist()):
        return survey, None
    parts = _gathered(looked_at.where(fn.col("state") != INTACT), damage_of, DAMAGE)
    damage = parts.groupBy(*_PLACE).agg(
        *(fn.sum(name).alias(name) for name in ("corrupt_records", "foreign_records"))
    )
    first = damage.limit(MOST_DAMAGE + 1).toArrow()
    if first.num_rows > MOST_DAMAGE:
        return survey, damage
    return survey._replace(damage=first.cast(DAMAGE)), None


def _gathered(events: DataFrame, look: Callable[[str, pa.Table], pa.Table], schema: pa.Schema) -> DataFrame:
    """What a look at each part of the events gives; parts of the same case are still to be merged."""

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [look(case, rows) for batch in batches for case, rows in rows_by_case(pa.table(batch))]
        yield from merged(schema, found).combine_chunks().to_batches()

    return events.mapInArrow(each, from_arrow_schema(schema))


def _with_damage(sends: DataFrame, damage: DataFrame) -> DataFrame:
    records = (fn.col("corrupt_records") + fn.col("foreign_records")).alias(DAMAGED_RECORDS)
    return sends.join(damage.select(*_PLACE, records), on=_PLACE, how="left")


def _unclaimed(survey: Survey, damage: DataFrame | None, claimed: DataFrame) -> tuple[pa.Table, pa.Table]:
    """Damage among which the rest is to be looked for, and what is not of it."""
    if damage is None:
        return survey.damage, claimed.toArrow()
    rest = damage.join(claimed.distinct(), on=_PLACE, how="left_anti").groupBy("case", "topic", "partition")
    summed = rest.agg(
        fn.lit(None).cast("long").alias("offset"),
        *(fn.sum(name).alias(name) for name in ("corrupt_records", "foreign_records")),
    )
    return summed.select(*DAMAGE.names).toArrow().cast(DAMAGE), CLAIMED.empty_table()


def _cut_table(cuts: Mapping[str, Cut]) -> pa.Table:
    rows = [{"case": case, **cut._asdict()} for case, cut in cuts.items()]
    return pa.Table.from_pylist(rows, schema=_CUTS)


def _in_pieces(events: DataFrame, cuts: DataFrame) -> Any:
    cut = fn.broadcast(cuts.withColumnRenamed("producers", "share_producers"))
    share = fn.expr("producer div share_producers").alias("share")
    piece = fn.expr("sequence div width").alias("piece")
    own = list(events.columns)
    return events.join(cut, on="case").select(*own, share, piece).groupBy(*_PIECE)


def _later(survey: Survey, cuts: Mapping[str, Cut], block: int) -> dict[Key, dict[Stream, int]]:
    """By piece; most have none. Streams are of one producer, so shares need not know of each other."""
    found: dict[Key, dict[Stream, int]] = {}
    for case, cut in cuts.items():
        if cut.width == BEYOND:
            continue
        reach = survey.of_case(case).reach
        last = pc.max(reach["block"]).as_py() or 0
        pieces = range(last * block // cut.width + 1)
        ends = [(number * cut.width, (number + 1) * cut.width) for number in pieces]
        for number, later in zip(pieces, later_arrivals(reach, ends, block), strict=True):
            for stream, arrival in later.items():
                found.setdefault((case, stream[1] // cut.producers, number), {})[stream] = arrival
    return found


def _joining(
    session: SparkSession, facts: Mapping[str, CaseFacts], later: Mapping[Key, dict[Stream, int]]
) -> Callable[[tuple[Any, ...], pa.Table, pa.Table], pa.Table]:
    known = session.sparkContext.broadcast((dict(facts), dict(later)))

    def joined(key: tuple[Any, ...], sends: pa.Table, receives: pa.Table) -> pa.Table:
        of_cases, arrivals = known.value
        case, share, piece = (part.as_py() for part in key)
        return _side_by_side(join(of_cases[case], sends, receives, arrivals.get((case, share, piece))))

    return joined


def _side_by_side(joined: Joined) -> pa.Table:
    """All tables as one: a row is of one of them, and null in the others."""
    parts = []
    kinds = {name: pa.struct(_nullable(schema)) for name, schema in Joined.schemas()._asdict().items()}
    for name, table in joined.plain()._asdict().items():
        rows = table.cast(pa.schema(_nullable(table.schema))).to_struct_array()
        columns = {
            other: rows if other == name else pa.nulls(table.num_rows, kind) for other, kind in kinds.items()
        }
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _rows(joined: DataFrame, name: str) -> DataFrame:
    return joined.where(fn.col(name).isNotNull()).select(f"{name}.*")


def _joined_schema() -> StructType:
    fields = [
        pa.field(name, pa.struct(_nullable(schema))) for name, schema in Joined.schemas()._asdict().items()
    ]
    return from_arrow_schema(pa.schema(fields))


def _nullable(schema: pa.Schema) -> list[pa.Field]:
    return [pa.field(field.name, field.type) for field in schema]
