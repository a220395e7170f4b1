"""A run that compared, with something of everything: verdicts, a failure, a taint, humps, hostile names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.families.compare.comparisons import comparisons, repetitions
from streamgauge.families.compare.result_tables import APPLIED_SETTINGS, COMPARISONS, REPETITIONS
from streamgauge.plan.plan_file import Plan, write_plan
from streamgauge.plan.warm_up_file import PartWarmUp, WarmUpEnding, note_warm_up, warm_up_of_parts
from streamgauge.tables.column import Table
from streamgauge.tables.results import CAUSES
from tests.families.compare.planted_trials import Row, case_of, trials

from .sample_run import environment

HOSTILE = "<script>document.documentElement.dataset.injected = 1</script>"
_WARM_PRODUCE = {"operation": "produce", "temperature": "warm", "length": 10}


def compared_run(folder: Path, **comparison: Any) -> RunDir:
    """A takes half of B's time; in some places something is wrong."""
    case = case_of(**{"warm_up_messages": "auto"} | comparison)
    warm_up = warm_up_of_parts([_warm_up(side) for side in ("a", "b", "control")])
    run = RunDir(str(folder / "20260102-030405-compare-ab12"))
    found = list(trials(case, 0.5, _spoiled))
    write_plan(Plan(kind="compare", run=run.id, name="compare", cases=(case,)), run)
    write_status(run, RunStatus(status="ok", cases={case.id: CaseStatus("ok")}))
    note_warm_up(run, case.id, warm_up)
    run.write_json(run.environment, environment())
    _write(run, REPETITIONS, repetitions(found))
    compared, causes = comparisons(found, case.model_copy(update={"warm_up": warm_up}), CaseStatus("ok"))
    _write(run, COMPARISONS, compared)
    _write(run, CAUSES, causes)
    engines = ("jvm", "python") if comparison.get("mix_engines") else ("python", "python")
    _write(run, APPLIED_SETTINGS, _settings(case.id, engines))
    return run


def _warm_up(side: str) -> PartWarmUp:
    times = {"produce": [9000.0] * 4 + [3000.0] * 20, "consume": [2000.0] * 24}
    return PartWarmUp(part=side, ended=WarmUpEnding.AT_REST, seconds=4.2, messages=120_000, blocks_us=times)


def _spoiled(row: Row) -> Row:
    place = {name: row[name] for name in _WARM_PRODUCE}
    if place == _WARM_PRODUCE and row["side"] == "control":
        return row | {"elapsed_ns": 3 * row["elapsed_ns"]}
    if place == {"operation": "consume", "temperature": "cold", "length": 100} and row["side"] == "b":
        if row["repetition"] == 4:
            return row | {"elapsed_ns": None, "seen": 3, "missing": 2, "error": f"2 did not come {HOSTILE}"}
        if row["repetition"] % 3 == 0:
            return row | {"elapsed_ns": 50 * row["elapsed_ns"]}
    calls = {"jni_calls": 340, "crossings": 10} if row["side"] == "a" and row["repetition"] == -1 else {}
    return row | calls


def _settings(case: str, engines: tuple[str, str]) -> list[Row]:
    rows: list[Row] = []
    for side, engine, native in (("a", engines[0], "linger.ms"), ("b", engines[1], None)):
        about = {"case": case, "side": side}
        rows += [
            {**about, "role": "engine", "is_shared": False, "name": "engine", "native": None}
            | {"value": engine, "note": ""},
            {**about, "role": "producer", "is_shared": True, "name": "linger_ms", "native": native}
            | {"value": None if native is None else "5", "note": "" if native else "it never lingers"},
            {**about, "role": "consumer", "is_shared": False, "name": f"own.{side}", "native": f"own.{side}"}
            | {"value": HOSTILE, "note": ""},
        ]
    return rows


def _write(run: RunDir, table: Table, rows: list[Row]) -> None:
    folder = run.local(run.result(table.name))
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.arrow_schema()), folder / "part-00000.parquet")
