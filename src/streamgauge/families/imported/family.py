"""`imported`: figures that another tool measured, in a run folder like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.comparing.measured import Measured
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.imported.document import ImportedDocument
    from streamgauge.families.imported.workload import ImportedWork, ImportedWorkload
    from streamgauge.launch.conduct import Conduct
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown
    from streamgauge.tables.column import Table


class Imported(Family["ImportedWorkload"]):
    kind = "imported"
    marks = frozenset({"imported"})
    roles = ()
    commands: ClassVar = {"import": "Import results of other tools, for diff, check and report to work on."}
    no_resuming = "it was measured by another tool"
    has_live_figures = False

    def workload_model(self) -> type[ImportedWorkload]:
        from streamgauge.families.imported.workload import ImportedWorkload

        return ImportedWorkload

    def expand(self, workload: ImportedWorkload, run_id: str) -> Iterator[Case]:
        from streamgauge.families.imported.cases import cases_of

        return cases_of(workload, run_id)

    def work_model(self) -> type[ImportedWork]:
        from streamgauge.families.imported.workload import ImportedWork

        return ImportedWork

    def event_tables(self) -> tuple[Table, ...]:
        return ()

    def result_tables(self) -> tuple[Table, ...]:
        from streamgauge.families.imported.tables import TABLES

        return TABLES

    def conduct(self) -> Conduct:
        from streamgauge.families.imported.conduct import NotToBeRun

        return NotToBeRun()

    def analysis(self) -> Callable[[SparkSession, RunDir, Plan], None]:
        from streamgauge.families.imported.conduct import nothing_to_analyse

        return nothing_to_analyse

    def document_model(self) -> type[ImportedDocument]:
        from streamgauge.families.imported.document import ImportedDocument

        return ImportedDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> ImportedDocument:
        from streamgauge.families.imported.document import imported_document

        return imported_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.imported.document import ImportedDocument
        from streamgauge.families.imported.show import show_imported

        assert isinstance(document, ImportedDocument)
        return show_imported(document, tables)

    def measured(self, document: Document, tables: ResultTables) -> Sequence[Measured]:
        from streamgauge.families.imported.document import ImportedDocument
        from streamgauge.families.imported.measured import measured_cases

        assert isinstance(document, ImportedDocument)
        return measured_cases(document)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.imported.command import import_command

        return import_command
