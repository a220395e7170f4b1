"""The Family contract: all that a stage knows of a family, and the only thing.

A family is a folder: its part of the workload, its cases, its agents' roles, its tables, its analysis, its
document, what to show of it, and its command. The class is cheap to import: each method imports its part when
it is asked for it, so that an agent never loads Spark, nor `--help` anything at all. What a family does not
give is done the common way: producers and consumers, the common tables, the analysis of messages.

The types of higher rooms are named here for the type checker alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.agents.assignment import Assignment
    from streamgauge.agents.life import Life
    from streamgauge.comparing.measured import Measured
    from streamgauge.core.run_dir import RunDir
    from streamgauge.launch.conduct import Conduct
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown
    from streamgauge.spec.metrics import Metrics
    from streamgauge.spec.model import SpecModel
    from streamgauge.spec.workload import Workload
    from streamgauge.tables.column import Table

W = TypeVar("W", bound="Workload")


class Family(ABC, Generic[W]):
    """Found by an entry point `<kind> = "package.module:Class"` in the group `streamgauge.families`."""

    kind: ClassVar[str]
    """As `kind:` of a workload and of plan.json has it."""
    marks: ClassVar[frozenset[str]] = frozenset()
    """Fields by which a file without `kind:` is known as this family's."""
    is_default: ClassVar[bool] = False
    """Whether a file without `kind:` and without any family's mark is this family's."""
    commands: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Name → what `streamgauge --help` says of it, in one line."""

    field_words: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What its own fields of a workload mean, by name: `init` writes it beside them."""

    roles: ClassVar[tuple[str, ...]] = ("producer", "consumer")
    """That agents of its cases may have."""

    no_resuming: ClassVar[str] = ""
    """Why a run of it cannot go on after it was cut off; empty: it can."""
    has_live_figures: ClassVar[bool] = True
    """Whether its cases have producers and consumers, which may publish their figures second by second."""

    # spec

    @abstractmethod
    def workload_model(self) -> type[W]:
        """The workload with this family's fields; `kind` is a Literal in it."""

    def metrics(self) -> Metrics:
        """The figures of a case that objectives may be set on; its document says of each part whether they
        are met (`report/outcomes`)."""
        from streamgauge.spec.metrics import OF_MESSAGES

        return OF_MESSAGES

    def foretold(self, workload: W) -> tuple[str, ...]:
        """What will come of it for certain, and is better known before the start than an hour later; a line
        each."""
        return ()

    # plan

    @abstractmethod
    def expand(self, workload: W, run_id: str) -> Iterable[Case]:
        """The cases, in the order in which they are run; of a search only the first."""

    def section(self, workload: W) -> SpecModel | None:
        """What the plan keeps of the workload beyond its cases."""
        return None

    def section_model(self) -> type[SpecModel] | None:
        """What `section` gives, as plan.json is read back."""
        return None

    def work_model(self) -> type[SpecModel]:
        """What a case of this family is about (`Case.work`); else a load."""
        from streamgauge.spec.load import Load

        return Load

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        """A plan.json of 0.1, which named no kind, as today's has it, if it is of this family; else None."""
        return None

    # agents

    def life(self, assignment: Assignment) -> Life | None:
        """The life of an agent in a role of this family; None: a producer's or consumer's."""
        return None

    # tables, recording

    def event_tables(self) -> tuple[Table, ...] | None:
        """All that its agents write; None: what producers and consumers do."""
        return None

    def result_tables(self) -> tuple[Table, ...] | None:
        """All that its analysis makes, and the report reads; None: those of messages."""
        return None

    # launch

    def conduct(self) -> Conduct | None:
        """How its cases are checked, run, judged and followed, where that is not as everybody's."""
        return None

    # analysis

    def analysis(self) -> Callable[[SparkSession, RunDir, Plan], None] | None:
        """Makes its result tables from its events; None: the analysis of messages."""
        return None

    def analysis_by(self) -> Callable[[Callable[[], SparkSession], RunDir, Plan], None] | None:
        """The same, for a family that needs Spark only for many events: it is given what starts it."""
        own = self.analysis()
        return None if own is None else lambda spark, run, plan: own(spark(), run, plan)

    # report

    def document_model(self) -> type[Document] | None:
        """What `document` gives: the JSON Schema is made from it."""
        return None

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> Document | None:
        """Its results as a typed document; None: the figures of every case, and nothing beside them."""
        return None

    def show(self, document: Document, tables: ResultTables) -> Shown | None:
        """What there is to see in its document: headline, tables, figures, notes; no markup."""
        return None

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer | None:
        """What the run says to the question that its family is for: claims with their intervals, from parts
        whose figures may be quoted; without such a part, why nothing may be said."""
        return None

    def answer_text(self, answer: Answer) -> str:
        """The same in one sentence."""
        raise NotImplementedError(f"family {self.kind} has no words for its answer")

    # comparing

    def measured(self, document: Document, tables: ResultTables) -> Sequence[Measured] | None:
        """The parts of its document with settings, verdicts and figures, to be set beside those of another
        run; None: its cases of messages."""
        return None

    # cli

    def command(self, name: str) -> Callable[..., Any]:
        """One of `commands`: flags → workload (`-> Workload`), and nothing else: running it is common to all.
        A command that is about something else returns None."""
        raise NotImplementedError(f"family {self.kind} has no command {name}")
