"""`streamgauge`: all commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from streamgauge.cli.analyze import analyze_command
from streamgauge.cli.cluster import cluster_app
from streamgauge.cli.compare import compare_command
from streamgauge.cli.e2e import e2e_command
from streamgauge.cli.fanout import fanout_command
from streamgauge.cli.follower import follower_command
from streamgauge.cli.gateway import gateway_command
from streamgauge.cli.generate import generate_command
from streamgauge.cli.leader import leader_command
from streamgauge.cli.limit import limit_command
from streamgauge.cli.plot import plot_command
from streamgauge.cli.report import report_command
from streamgauge.cli.results import results_command
from streamgauge.cli.run import run_command
from streamgauge.cli.runs import runs_command
from streamgauge.cli.sweep import sweep_command
from streamgauge.cli.transports import transports_command
from streamgauge.core.run_dir import use_for_other_schemes
from streamgauge.launch.hadoop_files import open_hadoop_files


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"streamgauge {version('streamgauge')}")
        raise typer.Exit


app = typer.Typer(
    name="streamgauge",
    help="One benchmarking suite for Kafka and what people weigh against it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("run")(run_command)
app.command("e2e")(e2e_command)
app.command("compare")(compare_command)
app.command("sweep")(sweep_command)
app.command("limit")(limit_command)
app.command("transports")(transports_command)
app.command("analyze")(analyze_command)
app.command("report")(report_command)
app.command("plot")(plot_command)
app.command("results")(results_command)
app.command("runs")(runs_command)
app.command("fanout")(fanout_command)
app.command("gateway")(gateway_command)
app.command("generate")(generate_command)
app.command("leader")(leader_command)
app.command("follower")(follower_command)
app.add_typer(cluster_app, name="cluster")


@app.callback()
def every_command(
    tell_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which streamgauge this is.", callback=_tell_version, is_eager=True
        ),
    ] = False,
) -> None:
    """One benchmarking suite for Kafka and what people weigh against it."""
    use_for_other_schemes(open_hadoop_files)
