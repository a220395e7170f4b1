"""Every target × every round × every listed case × every point of the sweep, in the order written."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from streamgauge.core.errors import BadInput
from streamgauge.families.sweep.workload import SweepWorkload
from streamgauge.plan.cases import Case, load_case, load_with


def cases_of(workload: SweepWorkload, run_id: str) -> Iterator[Case]:
    fields = list(workload.sweep)
    points = [dict(zip(fields, point, strict=True)) for point in itertools.product(*workload.sweep.values())]
    if not points:
        empty = [field for field, values in workload.sweep.items() if not values]
        raise BadInput(f"sweep.{empty[0]}: has no values")
    for field in fields:
        if any(field in own for own in workload.cases):
            raise BadInput(f"cases: {field} is swept, too; say it in one of the two")
    rounds = range(1, workload.iterations + 1)
    every = itertools.product(workload.targets, rounds, workload.cases or ({},), points)
    for number, (target, iteration, own, point) in enumerate(every, 1):
        parameters = {**own, **point}
        load = load_with(workload.load, parameters, "sweep")
        yield load_case(
            workload.kind,
            target,
            load,
            f"{number:03d}",
            run_id,
            parameters=parameters,
            iteration=iteration,
        )
