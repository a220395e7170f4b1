"""`compare`: the same short tests by two client libraries in turn, with a verdict for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.agents.assignment import Assignment
    from streamgauge.agents.life import Life
    from streamgauge.comparing.measured import Measured
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.compare.document import CompareDocument
    from streamgauge.families.compare.planned_comparison import PlannedComparison
    from streamgauge.families.compare.workload import CompareWorkload
    from streamgauge.launch.conduct import Conduct
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown
    from streamgauge.spec.metrics import Metrics
    from streamgauge.tables.column import Table


class Compare(Family["CompareWorkload"]):
    kind = "compare"
    marks = frozenset({"comparison"})
    roles = ("referee",)
    no_resuming = "the rounds of a comparison belong together"
    has_live_figures = False
    commands: ClassVar = {
        "compare": "Compare two client libraries: the same short tests in turn, with a verdict for each."
    }
    field_words: ClassVar = {
        "comparison": "what two libraries do in turn",
        "lengths": "bytes of a message",
        "messages": "how many in each test",
        "repeat": "repetitions of each test: more see smaller differences",
    }

    def workload_model(self) -> type[CompareWorkload]:
        from streamgauge.families.compare.workload import CompareWorkload

        return CompareWorkload

    def metrics(self) -> Metrics:
        from streamgauge.families.compare.outcomes import METRICS

        return METRICS

    def foretold(self, workload: CompareWorkload) -> tuple[str, ...]:
        from streamgauge.families.compare.foretold import too_few_repetitions

        return too_few_repetitions(workload.comparison)

    def expand(self, workload: CompareWorkload, run_id: str) -> list[Case]:
        from streamgauge.families.compare.cases import the_case

        return [the_case(workload, run_id)]

    def work_model(self) -> type[PlannedComparison]:
        from streamgauge.families.compare.planned_comparison import PlannedComparison

        return PlannedComparison

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.families.compare.cases import renewed

        return renewed(old_plan)

    def life(self, assignment: Assignment) -> Life:
        from streamgauge.families.compare.referee_life import RefereeLife

        return RefereeLife(assignment)

    def event_tables(self) -> tuple[Table, ...]:
        from streamgauge.families.compare.event_tables import COMPARISON_EVENTS

        return COMPARISON_EVENTS

    def result_tables(self) -> tuple[Table, ...]:
        from streamgauge.families.compare.result_tables import COMPARISON_TABLES

        return COMPARISON_TABLES

    def conduct(self) -> Conduct:
        from streamgauge.families.compare.conduct import CompareConduct

        return CompareConduct()

    def analysis_by(self) -> Callable[[Callable[[], SparkSession], RunDir, Plan], None]:
        from streamgauge.families.compare.analysis import compare

        return lambda _, run, plan: compare(run, plan)

    def document_model(self) -> type[CompareDocument]:
        from streamgauge.families.compare.document import CompareDocument

        return CompareDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> CompareDocument:
        from streamgauge.families.compare.document import compare_document

        return compare_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.compare.document import CompareDocument
        from streamgauge.families.compare.show import show_compare

        assert isinstance(document, CompareDocument)
        return show_compare(document, tables)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.compare.answer import compare_answer
        from streamgauge.families.compare.document import CompareDocument

        assert isinstance(document, CompareDocument)
        return compare_answer(document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.compare.answer import compare_text

        return compare_text(answer)

    def measured(self, document: Document, tables: ResultTables) -> list[Measured]:
        from streamgauge.families.compare.document import CompareDocument
        from streamgauge.families.compare.measured import measured_comparisons

        assert isinstance(document, CompareDocument)
        return measured_comparisons(document, tables)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.compare.command import compare

        return compare
