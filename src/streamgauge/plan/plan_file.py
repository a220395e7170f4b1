"""plan.json: the whole run, decided before anything starts."""

from __future__ import annotations

from pydantic import ValidationError

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case, expand
from streamgauge.plan.search_cases import search_case
from streamgauge.plan.slots import agents_of
from streamgauge.spec.model import SpecModel
from streamgauge.spec.search import Search
from streamgauge.spec.workload import Workload


class Plan(SpecModel):
    run: str
    name: str
    cases: tuple[Case, ...]
    search: Search | None = None
    """Then there are more cases to come, each when the one before has been judged."""
    harness: str | None = None
    """The target that measures what everything but a transport costs."""

    @property
    def slots_needed(self) -> int:
        targets = {case.target.name for case in self.cases}
        return max(len(agents_of(c for c in self.cases if c.target.name == name)) for name in targets)

    @property
    def comparison(self) -> Case | None:
        """The only case of a run that compares; None of any other run."""
        return next((case for case in self.cases if case.contest is not None), None)

    @property
    def is_fanout(self) -> bool:
        return any(case.fanout is not None for case in self.cases)


def make_plan(workload: Workload, run_id: str) -> Plan:
    search = workload.search
    if search is None:
        cases = tuple(expand(workload, run_id))
        return Plan(run=run_id, name=workload.name, cases=cases, harness=workload.harness)
    first = search_case(search, workload.targets[0], workload.load, run_id, 1, search.from_)
    return Plan(run=run_id, name=workload.name, cases=(first,), search=search)


def write_plan(plan: Plan, run: RunDir) -> None:
    run.write_json(run.plan, plan.model_dump(mode="json", by_alias=True))


def read_plan(run: RunDir) -> Plan:
    content = run.read_json(run.plan)
    try:
        return Plan.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise CorruptRun(f"{run.url(run.plan)}: {field}: {first['msg']}") from None
