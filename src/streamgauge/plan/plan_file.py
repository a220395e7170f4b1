"""plan.json: the whole run, decided before anything starts."""

from __future__ import annotations

from typing import Any

from pydantic import SerializeAsAny, ValidationError, ValidationInfo, field_validator

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case, Work, as_work
from streamgauge.plan.fault_file import read_faults
from streamgauge.plan.old_plans import up_to_date
from streamgauge.plan.slots import agents_of
from streamgauge.plan.warm_up_file import WarmUp, read_warm_ups, warmed_up
from streamgauge.spec.families import family_of
from streamgauge.spec.model import SpecModel
from streamgauge.spec.objective import Objective, objectives_of
from streamgauge.spec.workload import Workload


class Plan(SpecModel):
    run: str
    name: str
    kind: str
    """Of which family the run is."""
    section: SerializeAsAny[SpecModel] | None = None
    """What the family keeps of the workload beyond the cases."""
    objectives: tuple[Objective, ...] = ()
    """What figures of every case have to keep to."""
    cases: tuple[Case, ...]

    @field_validator("section", mode="before")
    @classmethod
    def _own_section(cls, value: Any, info: ValidationInfo) -> Any:
        model = family_of(info.data["kind"]).section_model() if "kind" in info.data else None
        return model.model_validate(value) if model is not None and isinstance(value, dict) else value

    @field_validator("objectives", mode="before")
    @classmethod
    def _own_objectives(cls, value: Any, info: ValidationInfo) -> Any:
        return objectives_of(info.data["kind"], value) if "kind" in info.data else ()

    def section_as(self, model: type[Work]) -> Work:
        """For those who know what the family keeps."""
        assert self.section is not None, f"the plan of a run of kind {self.kind} has no section"
        return as_work(self.section, model)

    @property
    def slots_needed(self) -> int:
        targets = {case.target.name for case in self.cases}
        return max(len(agents_of(c for c in self.cases if c.target.name == name)) for name in targets)


def make_plan(workload: Workload, run_id: str) -> Plan:
    family = family_of(workload.kind)
    return Plan(
        run=run_id,
        name=workload.name,
        kind=family.kind,
        section=family.section(workload),
        objectives=workload.objectives,
        cases=tuple(family.expand(workload, run_id)),
    )


def write_plan(plan: Plan, run: RunDir) -> None:
    run.write_text(run.plan, plan.model_dump_json(by_alias=True, indent=2) + "\n")


def read_plan(run: RunDir) -> Plan:
    content = up_to_date(run.read_json(run.plan))
    try:
        plan = Plan.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise CorruptRun(f"{run.url(run.plan)}: {field}: {first['msg']}") from None
    warm_ups, faults = read_warm_ups(run), read_faults(run)
    cases = tuple(
        _warmed_up(case, warm_ups.get(case.id)).model_copy(update={"faults": faults.get(case.id, ())})
        for case in plan.cases
    )
    return plan.model_copy(update={"cases": cases})


def _warmed_up(case: Case, warm_up: WarmUp | None) -> Case:
    if warm_up is None:
        return case
    agents = tuple(warmed_up(agent, warm_up.messages) for agent in case.agents)
    return case.model_copy(update={"agents": agents, "warm_up": warm_up})
