"""`e2e`: one load on each target, every message accounted for with its times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.e2e.workload import EndToEndWorkload
    from streamgauge.plan.cases import Case
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables


class EndToEnd(Family["EndToEndWorkload"]):
    kind = "e2e"
    is_default = True
    commands: ClassVar = {
        "e2e": "Send messages through Kafka and account for every one, with its four times."
    }

    def workload_model(self) -> type[EndToEndWorkload]:
        from streamgauge.families.e2e.workload import EndToEndWorkload

        return EndToEndWorkload

    def expand(self, workload: EndToEndWorkload, run_id: str) -> list[Case]:
        from streamgauge.plan.cases import load_case

        return [
            load_case(self.kind, target, workload.load, f"{number:03d}", run_id, parameters={})
            for number, target in enumerate(workload.targets, 1)
        ]

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        return renewed_plan(old_plan, self.kind)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.e2e.answer import end_to_end_answer
        from streamgauge.report.case_document import CasesDocument

        assert isinstance(document, CasesDocument)
        return end_to_end_answer(run, document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.e2e.answer import end_to_end_text

        return end_to_end_text(answer)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.e2e.command import e2e

        return e2e
