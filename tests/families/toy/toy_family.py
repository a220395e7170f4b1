"""A whole family in one file: a drummer beats, its tempo is told. What a third party would ship."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Annotated, ClassVar, Literal

import pyarrow as pa
import typer

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest, write_manifest
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import now_ns, read_clocks
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.plan.cases import Case, tag_of
from streamgauge.plan.plan_file import Plan
from streamgauge.recording.parquet import EventFiles
from streamgauge.report import shown, shown_tables
from streamgauge.report.document import Document, Part, head_of
from streamgauge.report.medium import Tone
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.shown_tables import Unit
from streamgauge.spec.family import Family
from streamgauge.spec.loading import parse
from streamgauge.spec.model import SpecModel
from streamgauge.spec.workload import Workload
from streamgauge.tables.column import Column, Table

BEATS = Table("beats", "a beat of the drummer", (Column("at_ns", "int64", "when it was"),))
TEMPO = Table(
    "tempo",
    "the tempo of a case",
    (
        Column("case", "string", "id of the case"),
        Column("beats", "int64", "how many there were"),
        Column("took_ms", "float64", "from the first to the last"),
    ),
)


class Drum(SpecModel):
    beats: int = 5


class ToyWorkload(Workload):
    kind: Literal["toy"] = "toy"
    drum: Drum


class Tempo(Part):
    case: str
    beats: int
    took_ms: float


class ToyDocument(Document):
    tempo: list[Tempo]


class Drummer:
    def __init__(self, assignment: Assignment) -> None:
        self._assignment, self._drum = assignment, assignment.work_as(Drum)
        self._files = EventFiles(assignment.run_dir, assignment.case, assignment.task.agent)
        self._rows: list[dict[str, int]] = []
        self.manifest = Manifest(assignment.task.agent, assignment.case)

    def run(self, rendezvous: Rendezvous) -> None:
        rendezvous.ready(read_clocks(), meanwhile=lambda: time.sleep(0.01))
        for _ in range(self._drum.beats):
            self._rows.append({"at_ns": now_ns()})
            time.sleep(0.001)

    def close(self) -> None:
        self._files.write_rows(BEATS, self._rows)
        self.manifest.counts = dict(self._files.rows)
        write_manifest(self._assignment, self.manifest)


def toy(beats: Annotated[int, typer.Option(help="How many.")] = 5) -> ToyWorkload:
    """Let a drummer beat."""
    target = {"name": "drum", "driver": "simulated"}
    return parse(ToyWorkload, {"name": "toy", "targets": [target], "drum": {"beats": beats}}, "toy")


class Toy(Family[ToyWorkload]):
    kind = "toy"
    marks = frozenset({"drum"})
    roles = ("drummer",)
    commands: ClassVar = {"toy": "Let a drummer beat."}

    def workload_model(self) -> type[ToyWorkload]:
        return ToyWorkload

    def expand(self, workload: ToyWorkload, run_id: str) -> Iterator[Case]:
        for number, target in enumerate(workload.targets, 1):
            yield Case(
                id=f"{number:03d}",
                kind=self.kind,
                target=target,
                work=workload.drum,
                drain_timeout_s=60.0,
                tag=tag_of(run_id, f"{number:03d}"),
                agents=(AgentTask(kind="drummer", number=0),),
            )

    def work_model(self) -> type[Drum]:
        return Drum

    def life(self, assignment: Assignment) -> Drummer:
        return Drummer(assignment)

    def event_tables(self) -> tuple[Table, ...]:
        return (BEATS,)

    def result_tables(self) -> tuple[Table, ...]:
        return (TEMPO,)

    def analysis(self) -> Callable[..., None]:
        from streamgauge.analysis.result_rows import write_rows
        from streamgauge.analysis.storage import read_few_events

        def tempo(session: object, run: RunDir, plan: Plan) -> None:
            rows = []
            for case in plan.cases:
                at = read_few_events(run, BEATS, case.id)["at_ns"].to_pylist()
                rows.append({"case": case.id, "beats": len(at), "took_ms": (max(at) - min(at)) / 1e6})
            write_rows(run, TEMPO, pa.Table.from_pylist(rows, schema=TEMPO.arrow_schema()))

        return tempo

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> ToyDocument:
        rows = [Tempo(**row) for case in plan.cases for row in tables.rows(TEMPO, case.id)]
        return ToyDocument(**head_of(run, plan, {}), tempo=rows)

    def show(self, document: Document, tables: ResultTables) -> shown.Shown:
        assert isinstance(document, ToyDocument)
        rows = [shown_tables.row(found.case, found.beats, found.took_ms) for found in document.tempo]
        units = {"case": Unit.TEXT, "beats": Unit.COUNT, "took": Unit.MS}
        columns = [shown_tables.Column(name, unit) for name, unit in units.items()]
        table = shown_tables.Table("Tempo", columns, rows, name="drum")
        badge = shown.Badge(document.status, Tone.GOOD)
        section = shown.Section("The drum", [table])
        return shown.Shown("toy", document.name, document.run, badge, [], [], [section])

    def command(self, name: str) -> Callable[..., ToyWorkload]:
        return toy
