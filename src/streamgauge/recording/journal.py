"""What is recorded and not yet in an event file, once a second in small files of its own.

Event files are large and packed, so their rows wait for each other: at high rates in memory, since packing
would compete with what is measured. Whoever is killed meanwhile would take them along. A journal's file holds
rows as they lie in memory, which costs next to nothing, and is gone as soon as its rows are in an event file.
`salvage` makes event files of what a killed agent left here. An agent that cannot write says so here, too, as
far as that can be written, and tries again.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.process_identity import own_start_s
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import kept_after_s
from streamgauge.recording.parquet import EventFiles, arrow_table
from streamgauge.tables.column import Table

STOPPED = "stopped.json"
"""There while rows cannot be written."""
MOST_BYTES_ELSEWHERE = 8 * 1024 * 1024
"""At once, where it has to go through a network that may be what is measured."""
_ROWS_AT_ONCE = 600
_LATEST_ROWS = 200
LOGGER = logging.getLogger(__name__)

Key = tuple[str, int, int]
"""Table, number of the stream, first row of a chunk: rows that become an event file together."""


class Journal:
    """Of one agent in one case. All but `close` is for the thread that writes events."""

    def __init__(self, run: RunDir, case: str, agent: str) -> None:
        self._run, self._folder = run, run.journal(case, agent)
        self._about = {
            "case": case,
            "agent": agent,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "pid_started_s": own_start_s(),
        }
        self._number = 0
        self._waiting: dict[str, set[Key]] = {}
        self._sources: list[Callable[[Journal], None]] = []
        self._is_stopped = self._is_behind = False

    @property
    def every_s(self) -> float:
        return kept_after_s(self._run) / 2

    def follow(self, source: Callable[[Journal], None]) -> None:
        """`source`: keeps what is new since it was last asked."""
        self._sources.append(source)

    def look(self) -> None:
        """Keep what is new. What cannot be written is tried again the next time, and what is there stays."""
        if self._is_stopped:
            return
        failure: Exception | None = None
        for source in self._sources:
            try:
                source(self)
            except (StreamgaugeError, OSError, pa.ArrowException) as error:
                failure = failure or error
        if failure is not None:
            self._note_behind(failure)
        elif self._is_behind:
            self._note_caught_up()

    def _note_behind(self, failure: Exception) -> None:
        if self._is_behind and not self._is_stopped:
            return
        self._is_behind = True
        for_good = "from now on" if self._is_stopped else "for now"
        LOGGER.warning("no journal of events %s: %s", for_good, failure)
        with suppress(StreamgaugeError, OSError):  # a full disk takes no note either
            self._run.write_json(f"{self._folder}/{STOPPED}", {**self._about, "why": str(failure)})

    def _note_caught_up(self) -> None:
        with suppress(StreamgaugeError, OSError):
            self._run.remove(f"{self._folder}/{STOPPED}")
            self._is_behind = False
            LOGGER.warning("the journal of events has everything again")

    def keep(self, table: Table, columns: Mapping[str, Any], keys: Iterable[Key]) -> None:
        """Rows as they lie in memory; they may be needed until all of `keys` are in event files."""
        content = pa.table(dict(columns))
        if not self._run.is_local and content.nbytes > MOST_BYTES_ELSEWHERE:
            self._is_stopped = True  # there would only be more the next time
            raise StreamgaugeError(f"{content.nbytes} bytes at once are too many for {self._run.location}")
        about = json.dumps({**self._about, "table": table.name})
        content = content.replace_schema_metadata({"streamgauge": about})
        path = f"{self._folder}/{self._number:08d}.arrow"
        self._number += 1
        with self._run.open_output(path) as stream, pa.ipc.new_file(stream, content.schema) as file:
            file.write_table(content)
        self._waiting[path] = set(keys)

    def release(self, *keys: Key) -> None:
        """They are in an event file now."""
        for path, waiting in list(self._waiting.items()):
            waiting.difference_update(keys)
            if not waiting:
                del self._waiting[path]
                self._run.remove(path)

    def close(self) -> None:
        """Whatever there was is in event files, or never will be."""
        self._is_stopped = True
        self._waiting.clear()
        try:
            self._run.remove(self._folder)
        except OSError as error:
            LOGGER.warning("%s: cannot be removed: %s", self._run.url(self._folder), error)


class FewRows:
    """Rows that come one by one, as looks at processes do; never all of a long run in memory."""

    def __init__(self, table: Table, rows: list[dict[str, Any]], files: EventFiles) -> None:
        """`rows`: whoever adds to it goes on doing so; old ones leave it from the front."""
        self._table, self.rows, self._files = table, rows, files
        self._kept = self._first = 0

    def keep(self, journal: Journal) -> None:
        count = len(self.rows)
        if count > self._kept:
            key = (self._table.name, 0, self._first)
            journal.keep(self._table, _as_columns(self._table, self.rows[self._kept : count]), [key])
            self._kept = count
        if count >= _ROWS_AT_ONCE + _LATEST_ROWS:
            # The latest are left to who shows them, and stay in the journal until they are written, too.
            journal.release(*self._write(count - _LATEST_ROWS))
            self._kept = 0
            self.keep(journal)

    def close(self) -> None:
        """The rest of them."""
        self._write(len(self.rows))

    def _write(self, count: int) -> list[Key]:
        self._files.write_rows(self._table, self.rows[:count])
        key = (self._table.name, 0, self._first)
        del self.rows[:count]
        self._first += count
        return [key]


class Moments:
    """A few rows of which all are kept again whenever there is another one."""

    def __init__(
        self, table: Table, count: Callable[[], int], rows: Callable[[], Sequence[Mapping[str, Any]]]
    ) -> None:
        self._table, self._count, self._rows, self._kept = table, count, rows, 0

    def keep(self, journal: Journal) -> None:
        if (count := self._count()) != self._kept:
            journal.keep(self._table, _as_columns(self._table, self._rows()), [(self._table.name, 0, count)])
            journal.release((self._table.name, 0, self._kept))
            self._kept = count


def _as_columns(table: Table, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    content = arrow_table(table, {name: [row[name] for row in rows] for name in table.column_names})
    return dict(zip(content.column_names, content.columns, strict=True))


@dataclass(frozen=True)
class News:
    """Rows of one chunk that are not in the journal."""

    key: Key
    rows: dict[str, Any]
    take_back: Callable[[], None]
    """They could not be kept: they are news the next time, too."""


class Streams:
    """The rows of all streams of an agent, each in a chunk of its own, as one file."""

    def __init__(self, table: Table, news: Callable[[], Iterable[News]]) -> None:
        self._table, self._news = table, news

    def keep(self, journal: Journal) -> None:
        # Why messages failed is told of few.
        news = list(self._news())
        plain = [piece for piece in news if "error" not in piece.rows]
        try:
            for piece in news:
                if "error" in piece.rows:
                    journal.keep(self._table, piece.rows, [piece.key])
            if plain:
                journal.keep(
                    self._table, _joined([piece.rows for piece in plain]), [piece.key for piece in plain]
                )
        except Exception:
            for piece in news:
                piece.take_back()
            raise


def _joined(pieces: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """One after another; of one alone nothing is copied."""
    if len(pieces) == 1:
        return pieces[0]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
