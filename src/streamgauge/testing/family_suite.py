"""The suite that every family passes. A test class inherits it, and gives `kind` and a workload.

It needs no test framework of its own: methods are plain functions with assertions, as pytest finds them.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import yaml

from streamgauge.core.errors import BadInput
from streamgauge.plan.family_tables import event_tables_of, result_tables_of
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.report.document import Document
from streamgauge.spec.families import family_of, kind_by_fields, kinds
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.spec.metrics import BoundUnit, Metric
from streamgauge.spec.workload import Workload

_LONGEST_HELP = 110
_BOUNDS = {BoundUnit.MS: "1s", BoundUnit.MESSAGES: "1", BoundUnit.PER_S: "10/s", BoundUnit.PERCENT: "95%"}


def example_of(metric: Metric) -> str:
    """An objective on it, as people write it."""
    return metric.name + (f"{metric.signs[0]}{_BOUNDS[metric.units[0]]}" if metric.signs else "")


class FamilySuite:
    kind: ClassVar[str]
    content: ClassVar[dict[str, Any]]
    """A workload as YAML has it, without its `kind`."""

    def _workload(self) -> Workload:
        return parse(Workload, {**self.content, "kind": self.kind}, "workload")

    def test_it_is_found_by_its_kind(self) -> None:
        assert self.kind in kinds()
        assert family_of(self.kind).kind == self.kind

    def test_a_file_without_a_kind_is_known_as_its_own(self) -> None:
        assert kind_by_fields(self.content) == self.kind

    def test_a_workload_written_is_read_back_the_same(self) -> None:
        workload = self._workload()
        assert workload.kind == self.kind
        content = yaml.safe_load(dump_yaml(workload))
        assert content["kind"] == self.kind
        assert parse(Workload, content, "again") == workload

    def test_an_unknown_field_is_refused_by_name(self) -> None:
        said = ""
        try:
            parse(Workload, {**self.content, "kind": self.kind, "no_such_field": 1}, "workload")
        except BadInput as error:
            said = str(error)
        assert "no_such_field: unknown field" in said

    def test_objectives_are_on_its_own_figures_and_kept_by_the_plan(self) -> None:
        metrics = family_of(self.kind).metrics()
        texts = [example_of(metric) for metric in metrics.named]
        workload = parse(Workload, {**self.content, "kind": self.kind, "objectives": texts}, "workload")
        assert make_plan(workload, "run-1").objectives == workload.objectives
        assert len({objective.metric for objective in workload.objectives}) == len(texts)
        said = ""
        try:
            parse(Workload, {**self.content, "kind": self.kind, "objectives": ["speed>=1"]}, "workload")
        except BadInput as error:
            said = str(error)
        assert f"there is no figure 'speed'; allowed: {metrics.words()}" in said

    def test_a_plan_written_is_read_back_the_same_and_made_again_is_the_same(self) -> None:
        plan = make_plan(self._workload(), "run-1")
        assert plan.cases, "there is nothing to run"
        assert Plan.model_validate(plan.model_dump(mode="json", by_alias=True)) == plan
        assert make_plan(self._workload(), "run-1") == plan

    def test_cases_and_agents_have_names_of_their_own(self) -> None:
        cases = make_plan(self._workload(), "run-1").cases
        assert len({case.id for case in cases}) == len({case.tag for case in cases}) == len(cases)
        for case in cases:
            assert case.kind == self.kind
            assert case.agents, f"nobody has anything to do in case {case.id}"
            assert len({task.agent for task in case.agents}) == len(case.agents)
            assert {task.kind for task in case.agents} <= set(family_of(self.kind).roles)

    def test_tables_have_names_of_their_own_and_say_where_the_case_is(self) -> None:
        events, results = event_tables_of(self.kind), result_tables_of(self.kind)
        assert len({table.name for table in events}) == len(events)
        assert len({table.name for table in results}) == len(results)
        assert not [table.name for table in events if "case" in table.column_names]
        assert not [table.name for table in results if table.column_names[0] != "case"]

    def test_a_command_says_in_a_line_what_it_does(self) -> None:
        family = family_of(self.kind)
        for name, words in family.commands.items():
            assert words.endswith(".")
            assert len(words) <= _LONGEST_HELP
            assert "return" in inspect.get_annotations(family.command(name)), f"{name}: what does it make?"

    def test_what_it_documents_is_a_document(self) -> None:
        model = family_of(self.kind).document_model()
        assert model is None or issubclass(model, Document)
