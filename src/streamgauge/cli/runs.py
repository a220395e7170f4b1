"""`streamgauge runs`: what has been run; `runs tag` and `runs rm` keep it in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug, Out
from streamgauge.cli.run_names import complete_run
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir

_WIDE = 240
"""Columns where nobody looks at them: a pipe gets whole rows."""

runs_app = typer.Typer(help="List the runs, oldest first; tag them, or remove some.")

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN…",
        help="Runs: folders, names or the start of them, tags, latest.",
        show_default=False,
        autocompletion=complete_run,
    ),
]


@runs_app.callback(invoke_without_command=True)
def list_runs(context: typer.Context, out: Out = "runs", debug: Debug = False) -> None:
    """List the runs, oldest first."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from streamgauge.cli.runs_table import runs_table
    from streamgauge.core.run_dir import runs_in
    from streamgauge.report.listed_runs import listed

    found = [listed(run) for run in runs_in(out)]
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, _WIDE)
    console.print(runs_table(found, console.width) if found else f"no runs in {out}")


@runs_app.command("tag")
@told_by("streamgauge runs tag latest before-upgrade", "streamgauge runs tag latest before-upgrade --remove")
def tag_command(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Which run.", autocompletion=complete_run, show_default=False)
    ],
    tags: Annotated[
        list[str], typer.Argument(metavar="TAG…", help="Words to find it by.", show_default=False)
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Remove these tags.")] = False,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Tag a run, so that the tag names it. If several runs have the same tag, it names the newest."""
    from streamgauge.cli.finding import find_run
    from streamgauge.core.run_tags import tag_run, tags_of

    found = find_run(run, _below(context, out))
    if remove and (missing := [tag for tag in tags if tag not in tags_of(found)]):
        raise BadInput(f"runs tag: {found.id} has no tag {', '.join(missing)}")
    now = tag_run(found, *((), tags) if remove else (tags,))
    typer.echo(f"{found.id}: {', '.join(now) or 'no tags'}")


@runs_app.command("rm")
@told_by("streamgauge runs rm 20260102-03 nightly", "streamgauge runs rm latest --yes")
def rm_command(
    context: typer.Context,
    runs: Names,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Remove runs with all their files. If one of them is still running, none is removed."""
    from streamgauge.cli.finding import find_run
    from streamgauge.core.units import counted, format_bytes

    folder = _below(context, out)
    for name in runs:
        _refuse_bundle(name)
    found = {run.location: run for run in (find_run(name, folder) for name in runs)}
    for run in found.values():
        _refuse_running(run)
    if not yes:
        for run in found.values():
            typer.echo(f"{run.location}  {format_bytes(run.size_bytes())}", err=True)
        if not typer.confirm(f"Remove {counted(len(found), 'run')} for good?", err=True):
            raise typer.Exit(1)
    for run in found.values():
        _refuse_running(run)  # somebody may have gone on with it meanwhile
        run.remove("")
        typer.echo(f"removed {run.id}")


def _refuse_bundle(name: str) -> None:
    """Else it would be unpacked, and what came out of it removed."""
    from pathlib import Path

    from streamgauge.exporting.bundle import is_bundle

    if is_bundle(Path(name)):
        raise BadInput(
            f"{name}: is a bundle, a file of its own: delete it with rm; "
            "to remove a run that was unpacked from it, give the run's name; nothing was removed"
        )


def _refuse_running(run: RunDir) -> None:
    """What cannot be read is not running, and may go."""
    from streamgauge.core.errors import CorruptRun
    from streamgauge.core.status import in_use

    try:
        status = in_use(run)
    except CorruptRun:
        return
    if status is not None:
        raise BadInput(
            f"{run.location}: is in use, by process {status.pid} on {status.host or 'this host'}; "
            "end that first; nothing was removed"
        )


def _below(context: typer.Context, out: str) -> str:
    """`--out` may stand before the subcommand, too."""
    own, parent = context.get_parameter_source("out"), context.parent
    if own is not None and own.name != "DEFAULT":
        return out
    return out if parent is None else str(parent.params.get("out") or out)
