"""`streamgauge plot RUN …`: latency and throughput over a knob, clusters or runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import Debug
from streamgauge.cli.run_names import complete_run
from streamgauge.core.errors import BadInput

if TYPE_CHECKING:
    from streamgauge.core.run_dir import RunDir
    from streamgauge.report.document import Document


def plot_command(
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
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Where the files go.", show_default="plots, in the run's report"
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Plot sweeps as SVG, PNG and HTML, with the data and a script for Gnuplot."""
    from streamgauge.cli.finding import find_run
    from streamgauge.report.plots import plot_files

    found = [find_run(run) for run in runs]
    files = plot_files([_cases_of(run) for run in found], x, with_page=True)
    if not files:
        raise BadInput("these runs differ in no setting that could be plotted over; name one with --x")
    if out is None and len(found) > 1:
        out = Path("plots")
    for name, content in files.items():
        if out is None:
            place = f"{found[0].report_plots}/{name}"
            found[0].write_bytes(place, content)
            typer.echo(found[0].url(place))
        else:
            out.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
            typer.echo(str(out / name))


def _cases_of(run: RunDir) -> Document:
    from streamgauge.report.results import results_document

    document = results_document(run)
    if not document.plotted:
        raise BadInput(f"{run.location}: a run of kind {document.kind} has no cases to plot")
    return document
