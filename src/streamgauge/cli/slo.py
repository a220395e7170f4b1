"""`--slo`: objectives from the command line, beside those of the workload."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.errors import BadInput
from streamgauge.spec.loading import parse
from streamgauge.spec.objective import flagged_objectives
from streamgauge.spec.workload import Workload


def with_objectives(workload: Workload, slo: Sequence[str] | None) -> Workload:
    """A flag takes the place of what the file says of the same figure."""
    if not slo:
        return workload
    given = flagged_objectives(workload.kind, slo)
    names = [objective.metric.name for objective in given]
    kept = [each for each in workload.objectives if each.metric.name not in names]
    content = workload.model_dump(mode="json", by_alias=True)
    # A family may have a say in which objectives go together: its model is asked again.
    return parse(Workload, {**content, "objectives": [*kept, *given]}, "--slo", whole="")


def not_with_resume(slo: Sequence[str] | None) -> None:
    if slo:
        raise BadInput("--slo: a run that is resumed keeps the objectives that it was begun with")
