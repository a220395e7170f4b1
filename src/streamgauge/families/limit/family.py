"""`limit`: the highest rate at which every objective is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.limit.document import LimitDocument
    from streamgauge.families.limit.section import Search
    from streamgauge.families.limit.workload import LimitWorkload
    from streamgauge.launch.conduct import Conduct
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown


class Limit(Family["LimitWorkload"]):
    kind = "limit"
    marks = frozenset({"search"})
    commands: ClassVar = {
        "limit": "Find the highest rate that meets objectives: step up, then halve the gap; each rate twice."
    }
    field_words: ClassVar = {
        "search": "how the highest rate is looked for",
        "from": "messages a second of the first step",
        "to": "no step goes beyond this",
    }

    def workload_model(self) -> type[LimitWorkload]:
        from streamgauge.families.limit.workload import LimitWorkload

        return LimitWorkload

    def expand(self, workload: LimitWorkload, run_id: str) -> list[Case]:
        """The first; the others are planned as the search goes."""
        from streamgauge.families.limit.cases import search_case

        search = workload.search
        return [search_case(search, workload.targets[0], workload.load, run_id, 1, search.from_)]

    def section(self, workload: LimitWorkload) -> Search:
        return workload.search

    def section_model(self) -> type[Search]:
        from streamgauge.families.limit.section import Search

        return Search

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        search = old_plan.get("search")
        return renewed_plan(old_plan, self.kind, section=search) if search else None

    def conduct(self) -> Conduct:
        from streamgauge.families.limit.conduct import LimitConduct

        return LimitConduct()

    def document_model(self) -> type[LimitDocument]:
        from streamgauge.families.limit.document import LimitDocument

        return LimitDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> LimitDocument:
        from streamgauge.families.limit.document import limit_document

        return limit_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.limit.document import LimitDocument
        from streamgauge.families.limit.show import show_limit

        assert isinstance(document, LimitDocument)
        return show_limit(document, tables)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.limit.answer import limit_answer
        from streamgauge.families.limit.document import LimitDocument

        assert isinstance(document, LimitDocument)
        return limit_answer(document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.limit.answer import limit_answer_text

        return limit_answer_text(answer)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.limit.command import limit

        return limit
