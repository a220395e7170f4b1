"""`streamgauge cluster`: a Kafka cluster on this machine that stays up between runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.stages import Stage, Stages
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.systems.contract import StandingState


NOT_UP_EXIT_CODE = 3

cluster_app = typer.Typer(
    help="Start or stop a local Kafka cluster that stays up between runs.", no_args_is_help=True
)


@cluster_app.command()
@told_by(
    "streamgauge cluster up",
    "streamgauge cluster up --brokers 3",
    "streamgauge cluster up --security scram --acls --without write",
)
def up(
    brokers: Annotated[int, typer.Option(metavar="COUNT", help="How many brokers: 1, 3 or 5.")] = 1,
    security: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="How clients have to log in: scram, oauth (both over TLS) or mtls. Repeatable.",
        ),
    ] = None,
    acls: Annotated[bool, typer.Option("--acls", help="Allow clients only what a run needs.")] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RIGHT",
            help="With --acls, withhold this right too: create, delete, write, read, group or "
            "transactions. Repeatable.",
        ),
    ] = None,
) -> None:
    """Start it, unless it is already up, and print its bootstrap address on stdout."""
    from rich.console import Console

    from streamgauge.flags.secured_targets import write_targets
    from streamgauge.launch.stage_line import StageLine, fetching_shown
    from streamgauge.systems.standing import standing_system

    line = StageLine(Console(stderr=True))
    stages = Stages(line)

    stages.enter(Stage.STARTING_SYSTEM)
    try:
        with fetching_shown(stages, line):
            locks = {"security": security or [], "acls": acls, "without": without or []}
            state = standing_system().up(brokers, **_checked(locks))
    finally:
        stages.end()
    _say(f"local cluster is up: {state.words}, {state.lock_words}; logs in {state.logs}")
    for kind, target in write_targets(state.client_files).items():
        _say(f"{kind}: --target {target}")
    _say("end it with: streamgauge cluster down")
    typer.echo(state.bootstrap)


@cluster_app.command()
@told_by("streamgauge cluster status --json")
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is up; the exit code is 0 if it is up, and 3 if not."""
    from streamgauge.systems.standing import standing_system

    state = standing_system().status()
    if as_json:
        typer.echo(json.dumps(_as_document(state), indent=2))
    elif state is not None:
        pids = ", ".join(f"{name} pid {pid}" for name, pid in state.pids.items())
        typer.echo(f"up: {state.words} ({pids})")
        if state.locks:
            typer.echo(f"security: {state.lock_words.removeprefix('with security ')}")
        for kind, file in state.client_files.items():
            typer.echo(f"{kind}: {file}")
        typer.echo(f"bootstrap: {state.bootstrap}\ndata: {state.data}\nlogs: {state.logs}")
    else:
        _say(_why_not_up())
    if state is None:
        raise typer.Exit(NOT_UP_EXIT_CODE)


@cluster_app.command()
@told_by("streamgauge cluster down")
def down() -> None:
    """Stop it and remove its data."""
    from streamgauge.systems.standing import standing_system

    was_there = standing_system().down()
    _say("local cluster is down, its data removed" if was_there else "no local cluster was up")


def _checked(locks: dict[str, Any]) -> dict[str, Any]:
    """As the system that stands takes them; a word that it does not know is an error of the flag."""
    from streamgauge.spec.loading import parse
    from streamgauge.spec.system import default_kind, system_class

    model = system_class(default_kind()).spec_model
    found = parse(model, {"kind": default_kind(), **locks}, "cluster up", "flags")
    return {name: getattr(found, name) for name in locks}


def _as_document(state: StandingState | None) -> dict[str, object]:
    if state is None:
        return {"up": False}
    return {
        "up": True,
        "brokers": state.brokers,
        "bootstrap": state.bootstrap,
        "processes": state.pids,
        **({"locks": state.locks, "client_files": state.client_files} if state.locks else {}),
        "data": state.data,
        "logs": state.logs,
    }


def _why_not_up() -> str:
    from streamgauge.systems.standing import standing_system

    state = standing_system().last_state()
    if state is None:
        return "no local cluster is up; start one with: streamgauge cluster up"
    if not state.ready:
        return f"the local cluster is still starting, or its start was cut off; see {state.logs}"
    return (
        f"the local cluster is broken: {len(state.alive())} of {state.words} left, "
        f"see {state.logs}; start anew with: streamgauge cluster up"
    )


def _say(text: str) -> None:
    typer.echo(text, err=True)
