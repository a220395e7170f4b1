"""A run folder as agents would leave it, from events written by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.plan.agent_tasks import deal_out
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, write_plan
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target
from streamgauge.tables import events, results
from streamgauge.tables.column import Column, Table

START_NS = 5_000_000_000_000
WALL_OFFSET_NS = 1_700_000_000_000_000_000
MS = 1_000_000
SECOND = 1_000 * MS

Row = dict[str, Any]


@dataclass(repr=False)
class CaseEvents:
    """The events of one case; what is not said has a harmless value."""

    name: str
    load: Row = field(default_factory=dict)
    measures_itself: bool = False
    status: CaseStatus | None = field(default_factory=lambda: CaseStatus("ok"))
    sends: list[Row] = field(default_factory=list)
    receives: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)
    marks: list[Row] = field(default_factory=list)
    _next: Counter[Any] = field(default_factory=Counter)

    def __repr__(self) -> str:
        """Short: a property that fails shows what it failed with."""
        return f"<{self.name}: {len(self.sends)} sends, {len(self.receives)} receives>"

    def _count(self, *what: Any) -> int:
        self._next[what] += 1
        return self._next[what] - 1

    def ticks(self) -> int:
        """Counts up, for times that must differ."""
        return self._count("tick")

    def send(self, sequence: int, **given: Any) -> Row:
        """Due every ms, handed over 20 µs late, acknowledged after 1 ms."""
        topic, partition = given.get("topic", 0), given.get("partition", 0)
        intended_ns = given.get("intended_ns", START_NS + sequence * MS)
        sent_ns = given.get("sent_ns", intended_ns + 20_000)
        row = {
            "producer": 0,
            "sequence": sequence,
            "topic": topic,
            "partition": partition,
            "offset": self._count("offset", topic, partition),
            "size_bytes": 100,
            "intended_ns": intended_ns,
            "sent_ns": sent_ns,
            "acked_ns": sent_ns + MS,
            "error": None,
        } | given
        self.sends.append(row)
        return row

    def receive(self, send: Row, **given: Any) -> Row:
        """An intact copy, 2 ms after it was sent."""
        consumer = given.get("consumer", 0)
        row = {
            "consumer": consumer,
            "arrival": self._count("arrival", consumer),
            "state": send.get("state", events.INTACT),
            "broker_ms": (send["sent_ns"] + WALL_OFFSET_NS) // MS,
            "broker_time": events.BROKER_TIME_APPEND,
            "received_ns": send["sent_ns"] + 2 * MS,
        }
        row |= {name: send[name] for name in ("producer", "sequence", "topic", "partition", "offset")}
        row |= {"size_bytes": send["size_bytes"]} | given
        self.receives.append(row)
        return row

    def mark(self, kind: str, number: int, mark: str, at_ns: int, **given: Any) -> None:
        row = {
            "agent": f"{kind}-{number}",
            "kind": kind,
            "number": number,
            "host": "clock-0",
            "hostname": "box",
            "mark": mark,
            "at_ns": at_ns,
            "cpu_s": 0.0,
            "reference_offset_ns": 0,
            "reference_error_ns": 0,
            "wall_offset_ns": WALL_OFFSET_NS,
        }
        self.marks.append(row | given)

    def sample(self, source: str, at_ns: int, cpu_s: float, **given: Any) -> None:
        row = {
            "at_ns": at_ns,
            "source": source,
            "kind": source.partition("-")[0],
            "host": "clock-0",
            "cores": 2,
            "cpu_s": cpu_s,
            "rss_bytes": 1000,
            "net_sent_bytes": None,
            "net_received_bytes": None,
            "disk_read_bytes": None,
            "disk_written_bytes": None,
            "swapped_bytes": None,
            "throttled_count": None,
        }
        self.samples.append(row | given)

    def planned(self, case_id: str) -> Case:
        load = Load.model_validate({"messages": 1000, "rate": 1000} | self.load)
        names = [f"topic-{letter}" for letter in "abcdefgh"]
        return Case(
            id=case_id,
            kind="e2e",
            target=Target(name="t", driver="simulated"),
            work=load,
            measures_itself=self.measures_itself,
            topic_settings=load.topics,
            time_limit_s=load.time_limit,
            drain_timeout_s=load.drain_timeout,
            parameters={},
            topics=tuple(names[: load.topics.count]),
            tag=1,
            agents=tuple(deal_out(load)),
        )


class Recorded:
    """A run folder of several cases."""

    def __init__(self, folder: Path) -> None:
        self.run = RunDir.create(str(folder), "recorded")
        self.cases: dict[str, CaseEvents] = {}

    def add(self, case: CaseEvents) -> None:
        self.cases[f"{len(self.cases) + 1:03d}"] = case

    def write(self, rows_a_group: int | None = None) -> None:
        planned = tuple(case.planned(case_id) for case_id, case in self.cases.items())
        write_plan(Plan(kind="e2e", run=self.run.id, name="recorded", cases=planned), self.run)
        begun = {case_id: case.status for case_id, case in self.cases.items() if case.status is not None}
        write_status(self.run, RunStatus(status="ok", cases=begun))
        for case_id, case in self.cases.items():
            for table in events.EVENT_TABLES:
                if rows := getattr(case, table.name):
                    self._write_rows(table, case_id, rows, rows_a_group)

    def analyze(self, session: SparkSession | None = None) -> Results:
        """Small runs need no Spark."""

        def spark() -> SparkSession:
            assert session is not None, "Spark was asked for"
            return session

        analyze_with(spark, self.run)
        return Results(self)

    def _write_rows(
        self, table: Table, case_id: str, rows: list[Row], rows_a_group: int | None = None
    ) -> None:
        content = pa.Table.from_pylist(rows, schema=table.arrow_schema())
        with self.run.open_output(self.run.event_file(table.name, case_id, "agent", 0)) as stream:
            pq.write_table(content, stream, row_group_size=rows_a_group)


class Results:
    """The result tables of a run, as rows."""

    def __init__(self, recorded: Recorded) -> None:
        self._ids = {case.name: case_id for case_id, case in recorded.cases.items()}
        self._rows = {
            table.name: ds.dataset(recorded.run.url(recorded.run.result(table.name))).to_table().to_pylist()
            for table in results.RESULT_TABLES
        }

    def rows(self, table: str, case: str, **wanted: Any) -> list[Row]:
        """Rows of a case, by its name, that have the wanted values."""
        wanted |= {"case": self._ids[case]}
        return [r for r in self._rows[table] if all(r[name] == value for name, value in wanted.items())]

    def row(self, table: str, case: str, **wanted: Any) -> Row:
        [row] = self.rows(table, case, **wanted)
        return row


def rows_of(table: Table, rows: list[Row]) -> pa.Table:
    """Rows of an event table with their case, as the pipeline would read them."""
    schema = Table("", "", (*table.columns, Column("case", "string", ""))).arrow_schema()
    return pa.Table.from_pylist([{"case": "001"} | r for r in rows], schema=schema)
