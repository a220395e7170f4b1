"""Every message with all its times, as CSV: a row a message, however many there are.

A run has as many rows as it sent messages, so they are never in memory together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.plan.plan_file import read_plan
from streamgauge.report.result_tables import missing_result, result_files
from streamgauge.tables.faults import NO_ACKS
from streamgauge.tables.results import MESSAGES

_ROWS = 65_536


def write_messages(run: RunDir, stream: BinaryIO) -> int:
    """Table `messages` with a header; returns how many rows there were."""
    plan = read_plan(run)
    if MESSAGES not in result_tables_of(plan.kind):
        raise BadInput(f"{run.location}: a run of kind {plan.kind} has no table of messages")
    if not (files := result_files(run, MESSAGES)):
        raise missing_result(run, MESSAGES)
    unclaimed = pa.array([case.id for case in plan.cases if case.load.acks == NO_ACKS], pa.string())
    schema = pa.schema([field.with_nullable(True) for field in MESSAGES.arrow_schema()])
    row_count = 0
    with arrow_csv.CSVWriter(stream, schema) as writer:
        for file in files:
            for batch in message_batches(run, file, schema):
                writer.write_batch(_without_claims(batch, unclaimed))
                row_count += batch.num_rows
    return row_count


def message_batches(run: RunDir, file: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Of these columns."""
    try:
        with run.open_input(file) as stream:
            for batch in pq.ParquetFile(stream).iter_batches(_ROWS, columns=schema.names):
                yield batch.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CorruptRun(
            f"{run.url(file)}: cannot be read as result table `{MESSAGES.name}`: {reason}; if an older "
            f"version made it: streamgauge analyze {run.location}"
        ) from None


def _without_claims(batch: pa.RecordBatch, unclaimed: pa.Array) -> pa.RecordBatch:
    """Of cases without acks: that a client has written a message to a socket is no acknowledgement."""
    if not len(unclaimed):
        return batch
    place = batch.schema.get_field_index("acked_ns")
    is_unclaimed = pc.is_in(batch.column("case"), value_set=unclaimed)
    acked = pc.if_else(is_unclaimed, pa.scalar(None, pa.int64()), batch.column("acked_ns"))
    return batch.set_column(place, batch.schema.field(place), acked)
