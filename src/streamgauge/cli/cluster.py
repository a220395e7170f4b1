"""`streamgauge cluster`: a Kafka cluster on this machine that stays up between runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.core.stages import Stage, Stages

if TYPE_CHECKING:
    from streamgauge.systems.contract import StandingState


NOT_UP_EXIT_CODE = 3

cluster_app = typer.Typer(
    help="A Kafka cluster on this machine that stays up between runs.", no_args_is_help=True
)


@cluster_app.command()
def up(
    brokers: Annotated[int, typer.Option(metavar="COUNT", help="How many brokers: 1, 3 or 5.")] = 1,
) -> None:
    """Start it, or find it already up; prints its bootstrap address on stdout."""
    from rich.console import Console

    from streamgauge.launch.stage_line import StageLine, fetching_shown
    from streamgauge.systems.standing import standing_system

    line = StageLine(Console(stderr=True))
    stages = Stages(line)

    stages.enter(Stage.STARTING_SYSTEM)
    try:
        with fetching_shown(stages, line):
            state = standing_system().up(brokers)
    finally:
        stages.end()
    _say(f"local cluster is up: {state.words}; logs in {state.logs}")
    _say("end it with: streamgauge cluster down")
    typer.echo(state.bootstrap)


@cluster_app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what is up; exit code 0 when it is, 3 when it is not."""
    from streamgauge.systems.standing import standing_system

    state = standing_system().status()
    if as_json:
        typer.echo(json.dumps(_as_document(state), indent=2))
    elif state is not None:
        pids = ", ".join(f"{name} pid {pid}" for name, pid in state.pids.items())
        typer.echo(f"up: {state.words} ({pids})")
        typer.echo(f"bootstrap: {state.bootstrap}\ndata: {state.data}\nlogs: {state.logs}")
    else:
        _say(_why_not_up())
    if state is None:
        raise typer.Exit(NOT_UP_EXIT_CODE)


@cluster_app.command()
def down() -> None:
    """Stop it and remove its data."""
    from streamgauge.systems.standing import standing_system

    was_there = standing_system().down()
    _say("local cluster is down, its data removed" if was_there else "no local cluster was up")


def _as_document(state: StandingState | None) -> dict[str, object]:
    if state is None:
        return {"up": False}
    return {
        "up": True,
        "brokers": state.brokers,
        "bootstrap": state.bootstrap,
        "processes": state.pids,
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
