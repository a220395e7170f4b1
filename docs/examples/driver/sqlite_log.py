"""SQLite as a message log: a driver that can be read in one go."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import (
    Capabilities,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
    all_read,
)
from streamgauge.drivers.instant_acks import InstantProducer
from streamgauge.payload.header import RECORD_HEADER
from streamgauge.payload.making import Outgoing
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.tables.events import BROKER_TIME_APPEND

_TABLES = """
CREATE TABLE IF NOT EXISTS topics (name TEXT PRIMARY KEY, partitions INTEGER);
CREATE TABLE IF NOT EXISTS log (topic TEXT, place INTEGER, at INTEGER, ms INTEGER,
    key BLOB, headers TEXT, value BLOB, PRIMARY KEY (topic, place, at)) WITHOUT ROWID;
"""
_END = "SELECT coalesce(max(at) + 1, 0) FROM log WHERE topic = ? AND place = ?"
_INSERT = "INSERT INTO log (topic, place, ms, at, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = (
    "SELECT at, ms, key, headers, value FROM log "
    "WHERE topic = ? AND place = ? AND at >= ? ORDER BY at LIMIT ?"
)
_MOST_AT_ONCE = 1000
_LOOK_S = 0.001
_BUSY_S = 5.0


class Settings(SpecModel):
    file: Path
    """The database; it is made where there is none."""
    synchronous: bool = False
    """Is a message acknowledged only when the disk has it?"""


class SqliteLog(Driver):
    name = "sqlite_log"
    capabilities = Capabilities(durable=True, ordered=True, acked=True, record_headers=True, placed=True)
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        self._settings = Settings.model_validate(target.settings)

    def open(self) -> sqlite3.Connection:
        """For producers and consumers, too: each has its own, and may be closed by another thread."""
        try:
            made = sqlite3.connect(
                self._settings.file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            made.execute("PRAGMA journal_mode = wal")
            made.execute(f"PRAGMA synchronous = {'full' if self._settings.synchronous else 'normal'}")
            made.executescript(_TABLES)
        except sqlite3.Error as error:
            raise Unreachable(f"SQLite: {self._settings.file}: {error}; is the folder there?") from None
        return made

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        self.open().close()
        return {"sqlite": sqlite3.sqlite_version}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        if topics.replicas > 1:
            raise BadInput(f"topics.replicas: {topics.replicas}: a file is one copy; allowed: 1")
        made, database = [], self.open()
        for name in names:
            new = database.execute("INSERT OR IGNORE INTO topics VALUES (?, ?)", (name, topics.partitions))
            if new.rowcount:
                made.append(name)
            elif (found := self.partitions(database, name)) != topics.partitions:
                raise BadInput(f"topic {name} exists with {found} partitions, not {topics.partitions}")
        database.close()
        return made

    def remove_topics(self, names: list[str]) -> None:
        database = self.open()
        for name in names:
            database.execute("DELETE FROM log WHERE topic = ?", (name,))
            database.execute("DELETE FROM topics WHERE name = ?", (name,))
        database.close()

    @staticmethod
    def partitions(database: sqlite3.Connection, name: str) -> int:
        found = database.execute("SELECT partitions FROM topics WHERE name = ?", (name,)).fetchone()
        return int(found[0]) if found else 0

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        database = self.open()
        ends = {
            (number, partition): int(database.execute(_END, (name, partition)).fetchone()[0])
            for number, name in enumerate(topics)
            for partition in range(partitions)
        }
        database.close()
        return ends

    def producer(self, options: ProducerOptions) -> Producer:
        return SqliteProducer(self, options)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        return SqliteConsumer(self, options)

    def facts(self) -> dict[str, Any]:
        return self._settings.model_dump(mode="json")


class SqliteProducer(InstantProducer):
    def __init__(self, driver: SqliteLog, options: ProducerOptions) -> None:
        super().__init__()
        self._driver, self._options, self._database = driver, options, driver.open()
        self._database.execute("PRAGMA busy_timeout = 0")
        self._partitions = [driver.partitions(self._database, name) for name in options.topics]
        self._turn = 0

    def send(self, batch: Outgoing, topic: int) -> int:
        """A batch is a transaction: it is there whole, or not at all."""
        name, place = self._options.topics[topic], self._options.place
        partition = self._turn % self._partitions[topic] if place is None else place[1]
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                first = int(self._database.execute(_END, (name, partition)).fetchone()[0])
                self._database.executemany(_INSERT, _rows(batch, name, partition, first))
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                return 0  # somebody else is writing: the agent comes again
            raise CaseFailed(f"producer {self._options.number}: SQLite: {error}") from None
        self._turn += 1
        self._acks.add(batch.first_sequence, partition, np.arange(first, first + len(batch)))
        return len(batch)

    def settings_in_force(self) -> dict[str, Any]:
        return self._driver.facts()

    def close(self) -> None:
        self._database.close()


def _rows(batch: Outgoing, name: str, partition: int, first: int) -> list[tuple[Any, ...]]:
    now_ms = time.time_ns() // 1_000_000
    keys: Any = batch.keys or [None] * len(batch)
    headers = batch.headers or [[]] * len(batch)
    told = zip(range(first, first + len(batch)), keys, map(_as_text, headers), batch.values, strict=True)
    return [(name, partition, now_ms, *row) for row in told]


def _as_text(headers: list[tuple[str, bytes]]) -> str:
    return json.dumps([(name, value.hex()) for name, value in headers])


class SqliteConsumer(Consumer):
    def __init__(self, driver: SqliteLog, options: ConsumerOptions) -> None:
        self._driver, self._options, self._database = driver, options, driver.open()
        self._positions: dict[tuple[int, int], int] = {}
        self.assign(options.starts())

    def wait_ready(self, deadline_s: float) -> None:
        """It begins at an offset: nothing that is written from now on can be missed."""

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._positions = dict(start)

    def poll(self, timeout_s: float) -> Received | None:
        deadline = time.monotonic() + timeout_s
        while True:
            for place in self._positions:
                if (received := self._next_of(place)) is not None:
                    # The others come first next time.
                    self._positions[place] = self._positions.pop(place) + len(received)
                    return received
            if time.monotonic() >= deadline:
                return None
            time.sleep(_LOOK_S)

    def _next_of(self, place: tuple[int, int]) -> Received | None:
        wanted = (self._options.topics[place[0]], place[1], self._positions[place], _MOST_AT_ONCE)
        rows = self._database.execute(_SELECT, wanted).fetchall()
        if not rows:
            return None
        offsets, times_ms, keys, headers, values = zip(*rows, strict=True)
        return Received(
            values=list(values),
            carried=self._carried(keys, headers),
            topics=place[0],
            partitions=place[1],
            offsets=np.array(offsets, np.int64),
            timestamps_ms=np.array(times_ms, np.int64),
            timestamp_kind=BROKER_TIME_APPEND,
        )

    def _carried(self, keys: tuple[Any, ...], headers: tuple[str, ...]) -> list[bytes | None] | None:
        if self._options.carrier == "value":
            return None
        if self._options.carrier in ("key", "ordinal"):
            return list(keys)
        return [_from_text(text).get(RECORD_HEADER) for text in headers]

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        return all_read(self._positions, ends)

    def settings_in_force(self) -> dict[str, Any]:
        return self._driver.facts()

    def close(self) -> None:
        self._database.close()


def _from_text(text: str) -> dict[str, bytes]:
    return {name: bytes.fromhex(value) for name, value in json.loads(text)}
