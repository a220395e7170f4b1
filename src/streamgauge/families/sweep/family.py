"""`sweep`: one load over many settings, each a case of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.families.sweep.workload import SweepWorkload
    from streamgauge.plan.cases import Case
    from streamgauge.report.document import Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown


class Sweep(Family["SweepWorkload"]):
    kind = "sweep"
    marks = frozenset({"sweep", "cases", "iterations"})
    commands: ClassVar = {"sweep": "Measure every combination; figures per test, topic and partition."}

    def workload_model(self) -> type[SweepWorkload]:
        from streamgauge.families.sweep.workload import SweepWorkload

        return SweepWorkload

    def expand(self, workload: SweepWorkload, run_id: str) -> Iterator[Case]:
        from streamgauge.families.sweep.cases import cases_of

        return cases_of(workload, run_id)

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        is_swept = any(case.get("parameters") or case.get("iteration", 1) > 1 for case in old_plan["cases"])
        is_other = old_plan.get("search") or old_plan.get("harness") or old_plan.get("name") == "transports"
        return renewed_plan(old_plan, self.kind) if is_swept and not is_other else None

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.sweep.show import show_sweep
        from streamgauge.report.case_document import CasesDocument

        assert isinstance(document, CasesDocument)
        return show_sweep(document, tables)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.sweep.command import sweep

        return sweep
