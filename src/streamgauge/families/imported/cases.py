"""What was imported → cases. Nobody has anything to do in them: they were measured elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from streamgauge.families.imported.workload import ImportedWorkload
from streamgauge.plan.cases import Case, tag_of


def cases_of(workload: ImportedWorkload, run_id: str) -> Iterator[Case]:
    targets = {target.name: target for target in workload.targets}
    rounds: Counter[str] = Counter()
    for number, work in enumerate(workload.imported, 1):
        case_id = f"{number:03d}"
        same = work.model_dump_json(exclude={"file", "sha256"})
        rounds[same] += 1
        yield Case(
            id=case_id,
            kind=workload.kind,
            target=targets[work.tool],
            work=work,
            parameters=dict(work.settings),
            iteration=rounds[same],
            drain_timeout_s=0.0,
            tag=tag_of(run_id, case_id),
            agents=(),
        )
