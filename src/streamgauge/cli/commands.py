"""`streamgauge`: all commands. None is imported before it is called for, nor is any family's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from streamgauge.cli.help_pages import HelpfulGroup, make_helpful
from streamgauge.spec.families import all_families, broken_families
from streamgauge.spec.family import Family

_BEFORE = {
    "init": ("init:init_command", "Write a commented workload for you to change and run."),
    "run": ("run:run_command", "Run a workload, analyse it, and write the report."),
}
_AFTER = {
    "analyze": ("analyze:analyze_command", "Recompute the results of a run from its events."),
    "report": ("report:report_command", "Rewrite the report of a run from its results."),
    "plot": (
        "plot:plot_command",
        "Plot latency and rate over a setting: SVG, PNG, HTML, and files for Gnuplot.",
    ),
    "results": ("results:results_command", "Show the results of a run."),
    "runs": ("runs:runs_app", "List the runs, oldest first; tag them, or remove some."),
    "diff": ("diff:diff_command", "Compare runs: what is different, and how certain that is."),
    "verify": (
        "verify:verify_command",
        "Verify what a run sent and read: was anything lost?",
    ),
    "check": ("check:check_command", "Check a run against expectations: a gate for CI."),
    "export": (
        "export:export_command",
        "Write a run's results as Parquet, CSV, OpenMetrics, HdrHistogram or OMB files.",
    ),
    "bundle": (
        "export:bundle_command",
        "Pack a run into one archive that `streamgauge run` can repeat elsewhere.",
    ),
    "serve": (
        "serve:serve_command",
        "Browse, compare, watch, start and stop runs in a web browser.",
    ),
    "chaos": ("chaos:chaos_command", "Break brokers at random, and check that nothing is lost."),
    "faults": ("faults:faults_command", "List the faults that a workload can plan."),
    "gallery": (
        "gallery:gallery_command",
        "Show measuring faults on one simulated run: the wrong figure beside the true one.",
    ),
    "gateway": (
        "gateway:gateway_command",
        "Push Kafka's records to live clients: Lightstreamer's own, over WebSocket or HTTP.",
    ),
    "doctor": (
        "doctor:doctor_command",
        "Check whether this machine can measure: Java, limits, clock, noise.",
    ),
    "leader": (
        "leader:leader_command",
        "Lead a cluster: wait for followers, then run a test or serve until Ctrl-C.",
    ),
    "follower": (
        "follower:follower_command",
        "Join a leader, and run agents for it until it ends.",
    ),
    "size": (
        "size:size_command",
        "Say how many hosts, cores and GB, and how much network, a wanted load needs.",
    ),
    "deploy": ("deploy:deploy_app", "Write Kubernetes manifests for a run."),
    "topic": ("topic:topic_app", "Create, list and delete topics of a Kafka cluster."),
    "cluster": ("cluster:cluster_app", "Start or stop a local Kafka cluster that stays up between runs."),
}
"""Those of no family: where they are, and what they do."""


_HEADINGS = {
    "Measure": ("init", "run"),
    "Look at what came out": ("results", "report", "plot", "runs", "diff", "check", "analyze"),
    "Machines, clusters and servers": ("doctor", "size", "cluster", "topic", "leader", "follower", "gateway"),
}
"""Where a command stands in the list; families' commands measure, and others stand at the end."""


class Commands(HelpfulGroup):
    """What a list of commands needs is known without them; one that is called for is imported then."""

    def list_commands(self, ctx: Any) -> list[str]:
        for words in broken_families().values():
            typer.echo(f"streamgauge: {words}", err=True)
        return [*_BEFORE, *_of_families(), *_AFTER]

    def command_lines(self, ctx: Any) -> Iterator[str]:
        names = self.list_commands(ctx)
        headed = [name for listed in _HEADINGS.values() for name in listed]
        of_families = _of_families()
        headings = dict(_HEADINGS) | {"Measure": ("init", "run", *of_families)}
        rest = [name for name in names if name not in headed and name not in of_families]
        for heading, listed in (*headings.items(), ("More", rest)):
            if found := [name for name in listed if name in names]:
                yield from ("", heading)
                yield from self.listed(ctx, found)
        yield from ("", "streamgauge COMMAND -h tells you more about each.")

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | TyperGroup | None:
        """A sign in its place: its name, and what it does."""
        if cmd_name in (own := {**_BEFORE, **_AFTER}):
            return TyperCommand(cmd_name, help=own[cmd_name][1])
        family = _of_families().get(cmd_name)
        return None if family is None else TyperCommand(cmd_name, help=family.commands[cmd_name])

    def resolve_command(
        self, ctx: Any, args: list[str]
    ) -> tuple[str | None, TyperCommand | TyperGroup | None, list[str]]:
        name, sign, rest = super().resolve_command(ctx, args)
        return name, None if sign is None else _command(str(sign.name), sign.help), rest


def _of_families() -> dict[str, Family[Any]]:
    """Of two commands of one name the first is meant, and none of ours can be taken away."""
    taken = {*_BEFORE, *_AFTER}
    found: dict[str, Family[Any]] = {}
    for family in all_families():
        for name in family.commands:
            if name not in taken:
                found.setdefault(name, family)
    return found


def _command(name: str, words: str | None) -> TyperCommand | TyperGroup:
    """The command itself in place of its sign."""
    own = {**_BEFORE, **_AFTER}
    if name in own:
        module, _, attribute = own[name][0].partition(":")
        found = getattr(import_module(f"streamgauge.cli.{module}"), attribute)
    else:
        from streamgauge.cli.run_flags import with_run_flags

        family = _of_families()[name]
        found = with_run_flags(family, family.command(name))
    return _made(name, found, words)


def _made(name: str, found: typer.Typer | Callable[..., Any], words: str | None) -> TyperCommand | TyperGroup:
    app = found
    if not isinstance(app, typer.Typer):
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name, help=words, context_settings=_context_of(found))(found)
    made: Any = typer.main.get_command(app)
    made.name = name
    make_helpful(made)
    assert isinstance(made, (TyperCommand, TyperGroup))
    return made


def _context_of(found: Any) -> dict[str, Any]:
    """A command that hands flags on to another does not look at them itself."""
    if getattr(found, "hands_on", False):
        return {"ignore_unknown_options": True, "allow_extra_args": True}
    return {}


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"streamgauge {version('streamgauge')}")
        raise typer.Exit


def _open_other_files(location: str) -> Any:
    from streamgauge.launch.hadoop_files import open_hadoop_files

    return open_hadoop_files(location)


app = typer.Typer(
    name="streamgauge",
    cls=Commands,
    help="A benchmarking suite for Kafka and its alternatives.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def every_command(
    tell_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    "A benchmarking suite for Kafka and its alternatives."
    from streamgauge.core.other_schemes import use_for_other_schemes

    use_for_other_schemes(_open_other_files)
