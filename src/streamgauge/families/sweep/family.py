"""`sweep`: one load over many settings, each a case of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.sweep.document import SweepDocument
    from streamgauge.families.sweep.workload import SweepWorkload
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown


class Sweep(Family["SweepWorkload"]):
    kind = "sweep"
    marks = frozenset({"sweep", "cases", "iterations"})
    commands: ClassVar = {
        "sweep": "Measure every combination of settings: figures per test, topic and partition."
    }
    field_words: ClassVar = {
        "sweep": "every combination of these values is a case",
        "cases": "settings of each case, over those of the load",
        "iterations": "how often all of it is done: more give intervals",
    }

    def workload_model(self) -> type[SweepWorkload]:
        from streamgauge.families.sweep.workload import SweepWorkload

        return SweepWorkload

    def expand(self, workload: SweepWorkload, run_id: str) -> Iterator[Case]:
        from streamgauge.families.sweep.cases import cases_of

        return cases_of(workload, run_id)

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        for case in old_plan["cases"]:
            fields = [path.partition(".")[0] for path in case.get("parameters", {})]
            if case.get("iteration", 1) > 1 or (fields and set(fields) <= case.get("load", {}).keys()):
                return renewed_plan(old_plan, self.kind)
        return None

    def document_model(self) -> type[SweepDocument]:
        from streamgauge.families.sweep.document import SweepDocument

        return SweepDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> SweepDocument:
        from streamgauge.families.sweep.document import sweep_document

        return sweep_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.sweep.document import SweepDocument
        from streamgauge.families.sweep.show import show_sweep

        assert isinstance(document, SweepDocument)
        return show_sweep(document, tables)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.sweep.answer import sweep_answer
        from streamgauge.families.sweep.document import SweepDocument

        assert isinstance(document, SweepDocument)
        return sweep_answer(document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.sweep.answer import sweep_text

        return sweep_text(answer)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.sweep.command import sweep

        return sweep
