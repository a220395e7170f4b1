"""`streamgauge runs`: what has been run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.cli.options import Debug, Out
from streamgauge.core.errors import CorruptRun

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir

_NOTHING = "–"
_GOOD = ("ok", "valid", "met", _NOTHING)


def runs_command(out: Out = "runs", debug: Debug = False) -> None:
    """List the runs, oldest first."""
    from streamgauge.core.run_dir import runs_in
    from streamgauge.core.status import NOT_ANALYSED

    colours = {"ok": "green", "running": "blue", "partial": "yellow", NOT_ANALYSED: "yellow"}
    table = Table(box=None, pad_edge=False)
    for name in ("run", "status", "integrity", "validity", "objectives", "cases", "why"):
        table.add_column(name, overflow="fold")
    found = runs_in(out)
    for run in found:
        status, verdicts, cases, why = listed(run)
        # Green only if both verdicts hold, and every objective is met.
        is_good = all(verdict in _GOOD for verdict in verdicts)
        colour = colours.get(status, "red") if status != "ok" or is_good else "yellow"
        told = [Text(verdict, _colour(verdict)) for verdict in verdicts]
        table.add_row(run.id, Text(status, style=colour), *told, cases, Text(why))
    Console().print(table if found else f"no runs in {out}")


def _colour(verdict: str) -> str:
    if verdict == "missed":
        return "red"
    return "green" if verdict in _GOOD else "yellow"


class Listed(NamedTuple):
    """One row."""

    state: str
    verdicts: tuple[str, str, str]
    """Integrity, validity, objectives."""
    cases: str
    why: str


def listed(run: RunDir) -> Listed:
    """A run that cannot be read is listed too: it is there, and someone will look for it."""
    from streamgauge.core.outcomes import Outcome
    from streamgauge.core.status import read_status
    from streamgauge.plan.plan_file import read_plan
    from streamgauge.report.cause_words import OUTCOME_WORDS

    verdicts = (_NOTHING, _NOTHING, _NOTHING)
    try:
        plan, status = read_plan(run), read_status(run)
        state, why = status.status, status.reason or ""
        if state == "ok":  # as good as its worst case, which the analysis has found out
            has_document = run.has(run.results_document)
            document = run.read_json(run.results_document) if has_document else _computed(run)
            state, marked = document.get("status", state), ", ".join(document.get("marked", ()))
            why = document.get("reason") or (f"{state}: {marked}" if marked else "")
            asked = document.get("objectives")
            outcome = OUTCOME_WORDS[Outcome(asked)] if asked else _NOTHING
            verdicts = (document.get("integrity", "?"), document.get("validity", "?"), outcome)
    except CorruptRun as error:
        return Listed("corrupt", verdicts, "?", str(error))
    return Listed(state, verdicts, f"{len(status.cases)} of {len(plan.cases)}", why)


def _computed(run: RunDir) -> dict[str, Any]:
    """Of a run that was analysed, but has no report yet."""
    from streamgauge.report.results import results_document

    return results_document(run).model_dump(mode="json")
