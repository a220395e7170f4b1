"""Files of other tools become a run folder, which everything that takes a run takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from streamgauge.analysis.result_rows import write_rows
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.families.imported.tables import (
    CURVES,
    FIGURES,
    INTERVALS,
    LATENCIES,
    NOTES,
    PERCENTILES,
)
from streamgauge.families.imported.workload import ImportedWorkload
from streamgauge.importing.figures import ToolCase
from streamgauge.importing.formats import ToolFile
from streamgauge.plan.plan_file import make_plan, write_plan
from streamgauge.report.write import write_report
from streamgauge.spec.loading import dump_yaml, parse
from streamgauge.tables.column import Table

_DRIVER = "other-tool"
"""Nobody of ours drives it."""

Rows = list[dict[str, Any]]


def write_imported(files: Sequence[ToolFile], name: str, out: str) -> RunDir:
    """Everything is known before the folder is made: a file that cannot be read leaves none behind."""
    workload = _workload(files, name)
    run = RunDir.create(out, name)
    for number, file in enumerate(files, 1):
        run.write_bytes(run.original(number, file.name), file.content)
    run.write_text(run.workload, dump_yaml(workload))
    plan = make_plan(workload, run.id)
    write_plan(plan, run)
    run.write_json(run.environment, _environment(files))
    cases = [case for file in files for case in file.cases]
    for table, rows in _rows([(each.id, case) for each, case in zip(plan.cases, cases, strict=True)]).items():
        write_rows(run, table, pa.Table.from_pylist(rows, schema=table.arrow_schema()))
    done = {each.id: CaseStatus("ok") for each in plan.cases}
    write_status(run, RunStatus("ok", cases=done))
    write_report(run)
    return run


def _workload(files: Sequence[ToolFile], name: str) -> ImportedWorkload:
    tools = dict.fromkeys(case.tool for file in files for case in file.cases)
    return parse(
        ImportedWorkload,
        {
            "name": name,
            "targets": [{"name": tool, "driver": _DRIVER} for tool in tools],
            "imported": [
                {
                    "file": file.name,
                    "sha256": file.sha256,
                    "format": file.format,
                    "tool": case.tool,
                    "version": case.version,
                    "settings": dict(case.settings),
                }
                for file in files
                for case in file.cases
            ],
        },
        "import",
    )


def _environment(files: Sequence[ToolFile]) -> dict[str, Any]:
    """Of where it was measured nothing is known: not this machine's description."""
    return {
        "measured_by": sorted({case.tool for file in files for case in file.cases}),
        "measured_on": "unknown",
        "versions": {"streamgauge": version("streamgauge")},
    }


def _rows(cases: Sequence[tuple[str, ToolCase]]) -> dict[Table, Rows]:
    found: dict[Table, Rows] = {table: [] for table in (FIGURES, INTERVALS, NOTES)}
    latencies: dict[Table, Rows] = {table: [] for table in (LATENCIES, PERCENTILES, CURVES)}
    for case, figures in cases:
        found[FIGURES].append(
            {
                "case": case,
                "rate_per_s": figures.rate_per_s,
                "bytes_per_s": figures.bytes_per_s,
                "message_count": figures.message_count,
                "failed_count": figures.failed_count,
            }
        )
        found[INTERVALS] += [{"case": case, **vars(each)} for each in figures.intervals]
        found[NOTES] += [
            {"case": case, "place": place, "text": text} for place, text in enumerate(figures.notes)
        ]
        for table, row in _latency_rows(case, figures):
            latencies[table].append(row)
    return {**found, **latencies}


def _latency_rows(case: str, figures: ToolCase) -> Iterator[tuple[Table, dict[str, Any]]]:
    for place, latency in enumerate(figures.latencies):
        where = {"case": case, "place": place}
        known = ("leg", "count", "mean", "min", "max")
        yield LATENCIES, {**where, **{name: getattr(latency, name) for name in known}}
        for name, value_ms in latency.percentiles.items():
            yield PERCENTILES, {**where, "percentile": name, "value_ms": value_ms}
        for share, value_ms in latency.curve:
            yield CURVES, {**where, "share": share, "value_ms": value_ms}
