"""`streamgauge plot RUN …`: latency and throughput over a knob, clusters or runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug, Out
from streamgauge.cli.run_names import complete_run, runs_folder
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.report.document import Document


@told_by(
    "streamgauge plot latest",
    "streamgauge plot old-cluster new-cluster --x partitions --dir plots",
)
def plot_command(
    context: typer.Context,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN …",
            help="Runs: folders, names or the start of them, tags, latest.",
            autocompletion=complete_run,
        ),
    ],
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            metavar="KNOB",
            help="The knob to plot over: partitions, size …",
            show_default="the one that was swept",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", help="Where the pictures go.", show_default="plots, in the run's report"
        ),
    ] = None,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Plot sweeps as SVG, PNG and HTML, with the data and a script for Gnuplot."""
    from streamgauge.cli.finding import find_run
    from streamgauge.report.plots import plot_files

    if folder is None and _is_for_pictures(context, out):
        folder, out = Path(out), runs_folder()
        typer.echo(f"--out {folder}: has no runs, so the pictures go there; --dir is their flag", err=True)
    found = [find_run(run, out) for run in runs]
    files = plot_files([_cases_of(run) for run in found], x, with_page=True)
    if not files:
        raise BadInput("these runs differ in no setting that could be plotted over; name one with --x")
    if folder is None and len(found) > 1:
        folder = Path("plots")
    for name, content in files.items():
        if folder is None:
            place = f"{found[0].report_plots}/{name}"
            found[0].write_bytes(place, content)
            typer.echo(found[0].url(place))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            typer.echo(str(folder / name))


def _is_for_pictures(context: typer.Context, out: str) -> bool:
    """`--out` once meant their folder. It still does, where it holds no runs."""
    from streamgauge.core.run_dir import runs_in

    source = context.get_parameter_source("out")
    return source is not None and source.name == "COMMANDLINE" and not runs_in(out)


def _cases_of(run: RunDir) -> Document:
    from streamgauge.report.results import results_document

    document = results_document(run)
    if not document.plotted:
        raise BadInput(f"{run.location}: a run of kind {document.kind} has no cases to plot")
    return document
