"""`fanout`: the same messages to more and more clients, until a way of delivering them cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.agents.assignment import Assignment
    from streamgauge.agents.life import Life
    from streamgauge.comparing.measured import Measured
    from streamgauge.core.run_dir import RunDir
    from streamgauge.families.fanout.document import FanoutDocument
    from streamgauge.families.fanout.point import FanoutPoint
    from streamgauge.families.fanout.workload import FanoutWorkload
    from streamgauge.launch.conduct import Conduct
    from streamgauge.plan.cases import Case
    from streamgauge.plan.plan_file import Plan
    from streamgauge.report.document import Answer, Document
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.shown import Shown
    from streamgauge.spec.metrics import Metrics
    from streamgauge.tables.column import Table


class FanOut(Family["FanoutWorkload"]):
    kind = "fanout"
    marks = frozenset({"fanout"})
    roles = ("producer", "gateway", "swarm")
    has_live_figures = False
    commands: ClassVar = {
        "fanout": "Deliver the same messages to more and more clients, until one way cannot hold.",
        "generate": "Send the messages of a fan-out scenario, open loop.",
        "consume": "Read with many clients, from Kafka or a gateway, and print how old messages are.",
    }
    field_words: ClassVar = {
        "fanout": "who gets what",
        "clients": "how many, one point after another, until one does not hold",
        "scenarios": "which messages, and who follows which",
    }

    def workload_model(self) -> type[FanoutWorkload]:
        from streamgauge.families.fanout.workload import FanoutWorkload

        return FanoutWorkload

    def metrics(self) -> Metrics:
        from streamgauge.families.fanout.outcomes import METRICS

        return METRICS

    def expand(self, workload: FanoutWorkload, run_id: str) -> Iterator[Case]:
        from streamgauge.families.fanout.cases import cases_of

        return cases_of(workload, run_id)

    def work_model(self) -> type[FanoutPoint]:
        from streamgauge.families.fanout.point import FanoutPoint

        return FanoutPoint

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.families.fanout.cases import renewed

        return renewed(old_plan)

    def life(self, assignment: Assignment) -> Life:
        if assignment.task.kind == "producer":
            from streamgauge.families.fanout.generator_life import GeneratorLife

            return GeneratorLife(assignment)
        if assignment.task.kind == "gateway":
            from streamgauge.families.fanout.gateway_life import GatewayLife

            return GatewayLife(assignment)
        from streamgauge.families.fanout.swarm_life import SwarmLife

        return SwarmLife(assignment)

    def event_tables(self) -> tuple[Table, ...]:
        from streamgauge.families.fanout.event_tables import FANOUT_EVENTS

        return FANOUT_EVENTS

    def result_tables(self) -> tuple[Table, ...]:
        from streamgauge.families.fanout.result_tables import FANOUT_TABLES

        return FANOUT_TABLES

    def conduct(self) -> Conduct:
        from streamgauge.families.fanout.conduct import FanoutConduct

        return FanoutConduct()

    def analysis_by(self) -> Callable[[Callable[[], SparkSession], RunDir, Plan], None]:
        from streamgauge.families.fanout.analysis import fan_out

        return fan_out

    def document_model(self) -> type[FanoutDocument]:
        from streamgauge.families.fanout.document import FanoutDocument

        return FanoutDocument

    def document(self, run: RunDir, plan: Plan, tables: ResultTables) -> FanoutDocument:
        from streamgauge.families.fanout.document import fanout_document

        return fanout_document(run, plan, tables)

    def show(self, document: Document, tables: ResultTables) -> Shown:
        from streamgauge.families.fanout.document import FanoutDocument
        from streamgauge.families.fanout.show import show_fanout

        assert isinstance(document, FanoutDocument)
        return show_fanout(document, tables)

    def answer(self, run: RunDir, document: Document, tables: ResultTables) -> Answer:
        from streamgauge.families.fanout.answer import fanout_answer
        from streamgauge.families.fanout.document import FanoutDocument

        assert isinstance(document, FanoutDocument)
        return fanout_answer(document)

    def answer_text(self, answer: Answer) -> str:
        from streamgauge.families.fanout.answer import fanout_text

        return fanout_text(answer)

    def measured(self, document: Document, tables: ResultTables) -> list[Measured]:
        from streamgauge.families.fanout.document import FanoutDocument
        from streamgauge.families.fanout.measured import measured_points

        assert isinstance(document, FanoutDocument)
        return measured_points(document)

    def command(self, name: str) -> Callable[..., Any]:
        if name == "generate":
            from streamgauge.families.fanout.generate import generate

            return generate
        if name == "consume":
            from streamgauge.families.fanout.consume import consume

            return consume
        from streamgauge.families.fanout.command import fanout

        return fanout
