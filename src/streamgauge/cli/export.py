"""`streamgauge export RUN --to FORMAT`, `streamgauge bundle RUN`: a run for other programs and places."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import Debug, Out, Run
from streamgauge.flags.groups import told_by


class ExportFormat(StrEnum):
    parquet = "parquet"
    csv = "csv"
    openmetrics = "openmetrics"
    hdr = "hdr"
    omb = "omb"


@told_by("streamgauge export latest --to parquet", "streamgauge export latest --to omb --dir out")
def export_command(
    run: Run,
    to: Annotated[ExportFormat, typer.Option("--to", help="What to write.", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where the files go.", show_default="export, in the run"),
    ] = None,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Write a run's results as Parquet, CSV, OpenMetrics, HdrHistogram or OMB files."""
    from streamgauge.cli.finding import find_run
    from streamgauge.exporting.files import exported_files

    found = find_run(run, out)
    for name, content in exported_files(found, to.value):
        if folder is None:
            place = found.exported(to.value, name)
            found.write_bytes(place, content())
            typer.echo(found.url(place))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content())
            typer.echo(str(folder / name))


@told_by("streamgauge bundle latest", "streamgauge bundle latest --events --file all.zip")
def bundle_command(
    run: Run,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="The archive.", show_default="the run's name with .zip"),
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Include what was recorded about every message.")
    ] = False,
    out: Out = "runs",
    debug: Debug = False,
) -> None:
    """Pack a run into one archive that `streamgauge run` can repeat elsewhere."""
    from streamgauge.cli.finding import find_run
    from streamgauge.core.units import counted, format_bytes
    from streamgauge.exporting.bundle import write_bundle

    found = find_run(run, out)
    place = file or Path(f"{found.id}.zip")
    manifest = write_bundle(found, place, with_events=events)
    typer.echo(str(place))
    held = f"{counted(len(manifest.files), 'file')}, {format_bytes(place.stat().st_size)}"
    typer.echo(f"{held}; elsewhere: streamgauge results {place}, or streamgauge run {place}", err=True)
