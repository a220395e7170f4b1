"""`transports`: the same orders through each transport, at each rate of a ladder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.transports.document import TransportsDocument
    from streamgauge.families.transports.workload import Ladder, TransportsWorkload
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown


class Transports(Family["TransportsWorkload"]):
    kind = "transports"
    marks = frozenset({"harness"})
    has_live_figures = False
    """Latencies are those of microseconds, and whoever publishes figures of them takes more."""
    commands: ClassVar = {
        "transports": "Send orders through each transport at each rate; latency from the intended time."
    }
    field_words: ClassVar = {
        "harness": "target whose cost is everybody's: it stands beside the others",
        "cases": "a step for each rate, of every target",
    }

    def workload_model(self) -> type[TransportsWorkload]:
        from streamgauge.families.transports.workload import TransportsWorkload

        return TransportsWorkload

    def expand(self, workload: TransportsWorkload, run_id: str) -> list[Case]:
        from itertools import product

        from streamgauge.plan.cases import load_case, load_with

        return [
            load_case(
                self.kind,
                target,
                load_with(workload.load, step, "cases"),
                f"{number:03d}",
                run_id,
                parameters=step,
                measures_itself=target.name == workload.harness,
            )
            for number, (target, step) in enumerate(product(workload.targets, workload.cases), 1)
        ]

    def section(self, workload: TransportsWorkload) -> Ladder:
        from streamgauge.families.transports.workload import Ladder

        return Ladder(harness=workload.harness)

    def section_model(self) -> type[Ladder]:
        from streamgauge.families.transports.workload import Ladder

        return Ladder

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        harness = old_plan.get("harness")
        if harness is None and old_plan.get("name") != self.kind:
            return None
        plan = renewed_plan(old_plan, self.kind, section={"harness": harness})
        for case in plan["cases"] if harness is not None else ():
            case["measures_itself"] = (case["target"] or {}).get("name") == harness
        return plan

    def document_model(self) -> type[TransportsDocument]:
        from streamgauge.families.transports.document import TransportsDocument

        return TransportsDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> TransportsDocument:
        from streamgauge.families.transports.document import transports_document

        return transports_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.transports.document import TransportsDocument
        from streamgauge.families.transports.show import show_transports

        assert isinstance(document, TransportsDocument)
        return show_transports(document, tables)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.transports.answer import transports_answer
        from streamgauge.families.transports.document import TransportsDocument

        assert isinstance(document, TransportsDocument)
        return transports_answer(run, document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.transports.answer import transports_text

        return transports_text(answer)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.transports.command import transports

        return transports
