"""`streamgauge import FILE…`: results of other tools as a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Debug, Out, Quiet, Tags


class FormatName(StrEnum):
    omb = "omb"
    kafka_producer_perf = "kafka-producer-perf"
    kafka_consumer_perf = "kafka-consumer-perf"
    kafka_e2e_latency = "kafka-e2e-latency"
    hlog = "hlog"
    hgrm = "hgrm"
    k6 = "k6"
    locust = "locust"
    locust_history = "locust-history"
    kafka_perf = "kafka-perf"
    knet = "knet"


class ValueUnit(StrEnum):
    ns = "ns"
    us = "us"
    ms = "ms"
    s = "s"


@told_by(
    "streamgauge import producer-perf.txt",
    "streamgauge import before/*.json --tag before",
    "streamgauge import latency.hgrm --unit us",
)
def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Results of other tools; may be gzipped.", show_default=False),
    ],
    format_name: Annotated[
        FormatName | None,
        typer.Option("--format", help="Format of the files.", show_default="recognised by content"),
    ] = None,
    unit: Annotated[
        ValueUnit | None,
        typer.Option(
            "--unit", help="Unit of a histogram's values.", show_default="ns for .hlog, ms for .hgrm"
        ),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the run.")] = "imported",
    out: Out = "runs",
    tag: Tags = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Import results of other tools: diff, check, plot and report work on them."""
    from rich.console import Console

    from streamgauge.core.run_tags import checked_tags, tag_run
    from streamgauge.families.imported.writing import write_imported
    from streamgauge.importing.formats import read_tool_file
    from streamgauge.report.console_renderer import print_shown
    from streamgauge.report.result_tables import ResultTables
    from streamgauge.report.results import results_document
    from streamgauge.report.write import shown_of

    tags = checked_tags(tag or ())
    read = [read_tool_file(file, format_name and format_name.value, unit and unit.value) for file in files]
    run = write_imported(read, name, out)
    tag_run(run, tags)
    if not quiet:
        tables = ResultTables.read(run)
        print_shown(shown_of(results_document(run, tables), tables), Console())
    typer.echo(f"run {run.id}", err=True)
    typer.echo(f"report: {run.url(run.report_page)}", err=True)
