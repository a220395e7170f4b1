"""What a run of many cases costs beside measuring: planning, noting down, resuming, listing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.core.status import CaseStatus
from streamgauge.launch.run_records import RunRecords
from streamgauge.plan.family_tables import event_tables_of
from streamgauge.plan.plan_file import Plan, make_plan, read_plan, write_plan
from streamgauge.report.listed_runs import listed
from streamgauge.spec.families import family_of
from streamgauge.spec.loading import parse
from streamgauge.tables.events import MARKS, RECEIVES, SAMPLES, SENDS

_RATES = 100
_LAST = 100
"""So many cases are noted down as the last ones of the run: what a case costs when all others are there."""


def seconds_of_cases(folder: Path, count: int) -> dict[str, float]:
    """By what is done; `note` is of one case, the others of all."""
    runs = folder / f"cases-{count}"
    content = {
        "kind": "sweep",
        "targets": [{"name": "simulated", "driver": "simulated"}],
        "load": {"messages": 1000, "rate": 1000},
        "sweep": {
            "rate": [1000 + n for n in range(min(count, _RATES))],
            "message.size": [100 + n for n in range(max(1, count // _RATES))],
        },
    }
    workload = parse(family_of("sweep").workload_model(), content, "bench")
    run = RunDir.create(str(runs), "cases")
    plan = make_plan(workload, run.id)
    took = {"plan": _seconds(lambda: write_plan(make_plan(workload, run.id), run))}
    records = RunRecords.new(run, "local[2]")
    for case in plan.cases[:-_LAST]:
        records.status.cases[case.id] = CaseStatus("ok")
    records.finish()
    records.status.status = "running"
    took["note"] = _seconds(lambda: _note(records, plan)) / min(_LAST, count)
    for case in plan.cases:
        for table in (SENDS, RECEIVES, MARKS, SAMPLES):
            run.write_text(run.event_file(table.name, case.id, "agent-0", 0), "")
        run.write_text(run.manifest(case.id, "agent-0"), "{}")
    records.status.cases[plan.cases[-1].id].status = "running"
    records.end_early("bench")
    took["read"] = _seconds(lambda: read_plan(run))
    took["resume"] = _seconds(lambda: RunRecords.resumed(run, "local[2]", event_tables_of(plan.kind)))
    took["list"] = _seconds(lambda: [(one, one.size) for one in map(listed, runs_in(str(runs)))])
    shutil.rmtree(runs)
    return took


def _note(records: RunRecords, plan: Plan) -> None:
    """As a run does when a case begins and ends."""
    for case in plan.cases[-_LAST:]:
        records.begin_case(case)
        records.note_topics(case, list(case.topics))
        records.end_case(case, CaseStatus("ok"), {})


def _seconds(what: Callable[[], object]) -> float:
    begin = time.perf_counter()
    what()
    return time.perf_counter() - begin
