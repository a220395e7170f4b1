"""What killed agents left in their journals → event files.

Whenever this is ended, it can be done again: a row is taken only if no event file has it.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamgauge.core.process_identity import still_runs
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import note_not_kept
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.recording.finishing import FINISHED
from streamgauge.recording.journal import LOGGER, STOPPED
from streamgauge.recording.parquet import EventFiles, arrow_table
from streamgauge.tables.column import Table
from streamgauge.tables.events import EVENT_TABLES, MARKS, RECEIVES, SAMPLES, SENDS

_KEYS = {
    SENDS.name: ("producer", "sequence"),
    RECEIVES.name: ("consumer", "arrival"),
    SAMPLES.name: ("source", "at_ns"),
    MARKS.name: ("mark", "number", "at_ns"),
}
"""By which a row is known; the last of them grows."""
_TABLES = {table.name: table for table in EVENT_TABLES}


def salvage(run: RunDir) -> dict[str, int]:
    """How many rows were put into event files, by table; an agent that still records is left alone."""
    _tell_what_stopped(run)
    left: dict[tuple[str, str, str], list[str]] = {}
    for path in run.list_files(run.journals, ".arrow"):
        about = _about(run, path)
        if not _still_records(about):
            left.setdefault((about["case"], about["agent"], about["table"]), []).append(path)
    rows: dict[str, int] = {}
    for (case, agent, name), paths in left.items():
        count = _salvaged(run, case, agent, _TABLES[name], paths)
        rows[name] = rows.get(name, 0) + count
        for path in paths:
            run.remove(path)
    if not any(run.list_files(run.journals)):
        run.remove(run.journals)
    return rows


def _tell_what_stopped(run: RunDir) -> None:
    """Of who was killed while it could not write: what it had in memory alone is gone."""
    for path in list(run.list_files(run.journals, f"/{STOPPED}")):
        about = run.read_json(path)
        if not _still_records(about):
            agent, case, why = (about[name] for name in ("agent", "case", "why"))
            LOGGER.warning("case %s: the journal of %s had stopped when it was killed: %s", case, agent, why)
            note_not_kept(run)
            run.remove(path)


def _still_records(about: Mapping[str, Any]) -> bool:
    """Of one on another host nothing can be known; it has ended with its task."""
    is_here = about["host"] == socket.gethostname()
    return is_here and still_runs(about["pid"], about["pid_started_s"])


def _about(run: RunDir, path: str) -> dict[str, Any]:
    with run.open_input(path) as stream:
        about: dict[str, Any] = json.loads(pa.ipc.open_file(stream).schema.metadata[b"streamgauge"])
    return about


def _salvaged(run: RunDir, case: str, agent: str, table: Table, paths: Iterable[str]) -> int:
    keys = _KEYS[table.name]
    found = _newest(pa.concat_tables([_read(run, path, table) for path in paths]), keys)
    missing = found.join(_there(run, case, agent, table, found[keys[-1]]), keys, join_type="left anti")
    missing = _without_rolled_up(run, case, table, missing)
    missing = missing.select(table.column_names).sort_by([(key, "ascending") for key in keys])
    files = EventFiles(run, case, _free_name(run, case, agent, table))
    files.write_table(table, missing.cast(table.arrow_schema()))
    return int(missing.num_rows)


def _read(run: RunDir, path: str, table: Table) -> pa.Table:
    with run.open_input(path) as stream:
        content = pa.ipc.open_file(stream).read_all().replace_schema_metadata(None)
    if table.name not in FINISHED:
        return content
    columns: dict[str, Any] = {name: content[name].to_numpy() for name in content.column_names}
    return arrow_table(table, FINISHED[table.name](columns))


def _newest(rows: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """Of what was kept twice, as a message before and after its ack, the last."""
    places = rows.append_column("place", pa.array(range(rows.num_rows), pa.int64()))
    last = places.group_by(list(keys)).aggregate([("place", "max")])["place_max"]
    return rows.take(last)


def _there(run: RunDir, case: str, agent: str, table: Table, grows: pa.ChunkedArray) -> pa.Table:
    """Keys of the rows that event files of the agent have, as far as they may be the same."""
    keys = list(_KEYS[table.name])
    span = pc.min_max(grows)
    least, most = span["min"].as_py(), span["max"].as_py()
    kept = [table.arrow_schema().empty_table().select(keys)]
    for path in run.list_files(run.events(table.name, case), ".parquet"):
        name = path.rpartition("/")[2]
        if not name.startswith(f"{agent}-"):
            continue
        with run.open_input(path) as stream:
            file = pq.ParquetFile(stream)
            place = file.schema_arrow.get_field_index(keys[-1])
            for number in range(file.num_row_groups):
                known = file.metadata.row_group(number).column(place).statistics
                if known is None or not known.has_min_max or (known.max >= least and known.min <= most):
                    kept.append(file.read_row_group(number, columns=keys).select(keys))
    return pa.concat_tables([part.cast(kept[0].schema) for part in kept])


def _without_rolled_up(run: RunDir, case: str, table: Table, rows: pa.Table) -> pa.Table:
    """Rows that were in an event file, and were counted, and let go."""
    rolled = last_roll_up(run, case) if run.is_local else None
    if rolled is None or table.name not in (SENDS.name, RECEIVES.name) or not rows.num_rows:
        return rows
    gone = rolled.gone_sends if table.name == SENDS.name else rolled.gone_receives
    whose, which = (rows[name].to_numpy() for name in _KEYS[table.name])
    return rows.filter(pa.array(~gone.hold([whose], which)))


def _free_name(run: RunDir, case: str, agent: str, table: Table) -> str:
    number = 0
    while run.has(run.event_file(table.name, case, f"{agent}-salvaged{number}", 0)):
        number += 1
    return f"{agent}-salvaged{number}"
