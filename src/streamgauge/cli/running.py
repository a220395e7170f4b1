"""What every command that runs a workload does: run, analyse, report."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple, NotRequired, TypedDict, Unpack

import typer
from rich.console import Console

from streamgauge.analysis.pipeline import analyze
from streamgauge.analysis.rolling.beside import RollingUp
from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE, NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.cli.finding import find_run
from streamgauge.cli.reporting import report_of
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.core.stages import Stage, stages_text
from streamgauge.core.status import note_stages
from streamgauge.core.verdicts import CauseCode
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.launch.run_cycle import RunCycle
from streamgauge.report.console_renderer import print_shown
from streamgauge.report.document import Document
from streamgauge.spec.loading import dump_yaml
from streamgauge.spec.workload import Workload


class Manner(TypedDict):
    """How a run is carried out, whatever it is."""

    master: str | None
    quiet: bool
    debug: bool
    live: NotRequired[LiveWish]
    """Without it there is no live view."""
    tags: NotRequired[list[str]]
    """By which the run is to be found."""


def run_or_print(workload: Workload, *, only_print: bool, out: str, **how: Unpack[Manner]) -> int:
    """As `run_workload`; or show the workload that flags make, to be saved and changed."""
    if only_print:
        typer.echo(dump_yaml(workload), nl=False)
        return 0
    return run_workload(workload, out=out, **how)


def run_workload(workload: Workload, *, out: str, **how: Unpack[Manner]) -> int:
    """The exit code: 0 when every case is ok and every objective met."""
    cycle, notes = _begun(workload, out, how)
    return _carry_out(cycle, notes, how["quiet"])


class Ran(NamedTuple):
    run: RunDir
    exit_code: int
    error: StreamgaugeError | None
    """Why it was given up."""


def try_workload(workload: Workload, *, out: str, **how: Unpack[Manner]) -> Ran:
    """As `run_workload`, for who goes on whatever comes of it; a run that was refused is none."""
    cycle, notes = _begun(workload, out, how)
    try:
        return Ran(cycle.run, _carry_out(cycle, notes, how["quiet"]), None)
    except StreamgaugeError as error:
        if cycle.is_refused:
            raise
        return Ran(cycle.run, error.exit_code, error)


def _begun(workload: Workload, out: str, how: Manner) -> tuple[RunCycle, Console]:
    notes = _notes(how["quiet"])
    cycle = RunCycle.new(workload, out=out, **_of_cycle(how, notes))
    tag_run(cycle.run, how.get("tags", ()))
    notes.print(f"run {cycle.run.id}", highlight=False)
    return cycle, notes


def resume_run(location: str, *, out: str, **how: Unpack[Manner]) -> int:
    """Go on with a run after the last case that it finished."""
    notes = _notes(how["quiet"])
    cycle = RunCycle.resumed(find_run(location, out), **_of_cycle(how, notes))
    tag_run(cycle.run, how.get("tags", ()))
    done, planned = len(cycle.status.cases), len(cycle.plan.cases)
    left = f"{done} cases done" if cycle.plans_as_it_goes else f"{planned - done} of {planned} cases left"
    notes.print(f"run {cycle.run.id}: {left}", highlight=False)
    return _carry_out(cycle, notes, how["quiet"])


def _notes(quiet: bool) -> Console:
    """On a terminal by a way of its own: while Spark's Java starts, standard error is its log."""
    own = os.fdopen(os.dup(2), "w") if sys.stderr.isatty() else None
    return Console(stderr=True, file=own, quiet=quiet)


def _of_cycle(how: Manner, notes: Console) -> dict[str, Any]:
    return {
        "master": how["master"],
        "live": how.get("live", LiveWish(LiveMode.off)),
        "console": notes,
        "show_progress": not how["quiet"],
        "debug": how["debug"],
    }


def _carry_out(cycle: RunCycle, notes: Console, quiet: bool) -> int:
    def analyse_in(session: Any) -> None:
        analyze(session, cycle.run)

    try:
        cycle.measure(afterwards=analyse_in, roll_ups=RollingUp())
    except (StreamgaugeError, KeyboardInterrupt) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        if cycle.status.cases and not cycle.is_refused:
            begin = "interrupted; what" if interrupted else "what"
            kept = f"{begin} was recorded is kept, see it with: streamgauge analyze {cycle.run.location}"
            notes.print(kept, highlight=False, soft_wrap=True)
        if cycle.can_go_on:
            go_on = f"go on with: streamgauge run --resume {cycle.run.location}"
            notes.print(go_on, highlight=False, soft_wrap=True)
        if interrupted:
            return INTERRUPTED_EXIT_CODE
        raise
    try:
        return _report(cycle, notes, quiet)
    except KeyboardInterrupt:
        go_on = f"interrupted; there are results, go on with: streamgauge report {cycle.run.location}"
        notes.print(go_on, highlight=False, soft_wrap=True)
        return INTERRUPTED_EXIT_CODE


def _report(cycle: RunCycle, notes: Console, quiet: bool) -> int:
    stages = cycle.stages
    stages.enter(Stage.WRITING)
    try:
        document, shown, page = report_of(cycle.run)
    finally:
        stages.end()
    note_stages(cycle.run, cycle.stages_s())
    if not quiet:
        print_shown(shown, Console())
    notes.print(f"time: {stages_text(stages.seconds())}", highlight=False, soft_wrap=True)
    notes.print(f"report: {page}", highlight=False, soft_wrap=True)
    if document.status != "ok" or document.objectives is Outcome.MISSED:
        return NOT_OK_EXIT_CODE
    is_open = document.objectives is Outcome.NOT_DECIDABLE or _lacks_a_fault(document)
    return NOT_DECIDABLE_EXIT_CODE if is_open else 0


def _lacks_a_fault(document: Document) -> bool:
    """What a fault costs is not known of one that was not done, however well the rest went."""
    return any(
        found.code is CauseCode.FAULT_NOT_AS_PLANNED
        for part in document.parts.values()
        for found in part.validity.causes
    )
