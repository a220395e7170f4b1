"""`streamgauge runs`: what has been run."""

from __future__ import annotations

import psutil
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.cli.options import Debug, Out
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.core.status import read_status
from streamgauge.plan.plan_file import read_plan

_COLOURS = {"ok": "green", "running": "blue", "partial": "yellow"}


def runs_command(out: Out = "runs", debug: Debug = False) -> None:
    """List the runs, oldest first."""
    table = Table(box=None, pad_edge=False)
    for name in ("run", "status", "cases", "why"):
        table.add_column(name, overflow="fold")
    found = runs_in(out)
    for run in found:
        status, cases, why = _describe(run)
        table.add_row(run.id, Text(status, style=_COLOURS.get(status, "red")), cases, Text(why))
    Console().print(table if found else f"no runs in {out}")


def _describe(run: RunDir) -> tuple[str, str, str]:
    """A run that cannot be read is listed too: it is there, and someone will look for it."""
    try:
        plan, status = read_plan(run), read_status(run)
        state, why = status.status, status.reason or ""
        if state == "running" and not psutil.pid_exists(status.pid):
            state, why = "partial", "its process ended before it was done"
        if state == "ok" and run.has(run.results_document):
            document = run.read_json(run.results_document)
            state = document.get("status", state)
            why = document.get("reason") or ""
    except CorruptRun as error:
        return "corrupt", "?", str(error)
    return state, f"{len(status.cases)} of {len(plan.cases)}", why
