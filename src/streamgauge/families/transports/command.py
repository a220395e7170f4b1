"""`streamgauge transports`: one producer, one consumer, protobuf orders, a ladder of rates."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.core.units import parse_count, parse_rate, parse_seconds
from streamgauge.families.transports.env_file import EnvFile, read_env_file
from streamgauge.families.transports.targets import (
    TransportChoices,
    chosen_names,
    engine_for,
    harness_target,
    targets,
)
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Bootstrap, EngineChoice, WarmUpLimit, wish

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked
    from streamgauge.spec.workload import Workload


SHORTEST_S = 5.0
"""Of a step: what is shorter says more about its first moments than about the transport."""
_USUAL_RPS = "1k,5k,10k,25k,50k,100k"
_USUAL_ITERATIONS = 100_000
_SPARE_S = 90.0
"""For the connection, and for what a transport is behind when the last message was due."""
_BAD_INPUT = 2
_NO_BATCHING = Path(__file__).parent / "shipped" / "no-batching.env"


class Profile(StrEnum):
    auto = "auto"
    low_latency = "low_latency"
    few_cores = "few_cores"


class Preset(StrEnum):
    usual = "usual"
    no_batching = "no-batching"


@told_by(
    "streamgauge transports --rate 1k,10k --duration 10s",
    "streamgauge transports --transport kafka,aeron-ipc,zeromq --engine python",
    aliases={"--rps": "--rate", "--iterations": "--messages", "--seconds": "--duration"},
)
def transports(
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Transports, separated by commas; aeron means aeron-ipc and aeron-udp.",
            show_default="kafka,aeron",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE,…",
            help="Messages per second of each step, separated by commas.",
            show_default=_USUAL_RPS,
        ),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Sent before each step, and not measured: auto (until it is at rest), none, or "
            "how many messages.",
            show_default="auto",
        ),
    ] = None,
    warm_up_limit: WarmUpLimit = "60s",
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT", help="Messages of each step.", show_default="100k, or as many as 5 s take"
        ),
    ] = None,
    duration: Annotated[
        str | None, wish("Instead of --messages: how long each step lasts: 10s.", metavar="TIME")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Allow steps shorter than 5 s.")] = False,
    engine: Annotated[
        EngineChoice | None,
        typer.Option(help="Where the loops run.", show_default="jvm, if all transports support it"),
    ] = None,
    preset: Annotated[
        Preset,
        typer.Option(
            help="Settings of Kafka's clients; no-batching: those of transport-bench's published figures."
        ),
    ] = Preset.usual,
    env_file: Annotated[
        Path | None, wish("File of transportLoadTest.*, kafka.* and aeron.* settings.", metavar="FILE")
    ] = None,
    bootstrap: Bootstrap = None,
    aeron_dir: Annotated[
        str | None, wish("Media driver to use; by default one is started.", metavar="DIR")
    ] = None,
    aeron_profile: Annotated[
        Profile,
        typer.Option(
            help="Profile of the media driver that is started; auto: chosen by the number of cores."
        ),
    ] = Profile.auto,
    aeron_media_driver: Annotated[
        str | None,
        wish(
            "C media driver to start: aeronmd or a path; by default the Java one is started.", metavar="FILE"
        ),
    ] = None,
    harness: Annotated[
        bool, typer.Option("--harness/--no-harness", help="Also measure the harness's own cost.")
    ] = True,
) -> Asked:
    """Send orders through each transport at each rate; latency from the intended time, with ser/de."""
    from streamgauge.flags.asked import Asked

    env = read_env_file(_NO_BATCHING) if preset is Preset.no_batching else EnvFile()
    env = read_env_file(env_file, env) if env_file is not None else env
    named = chosen_names(transport or env.transport or "kafka,aeron")
    names = _without_broken(named, env)
    chosen = engine.value if engine is not None else engine_for(names)
    choices = TransportChoices(chosen, bootstrap, aeron_dir, aeron_profile.value, aeron_media_driver, env)
    ahead = warm_up or env.warm_up or "auto"
    steps = _steps(
        rate or env.rps or _USUAL_RPS,
        ahead,
        messages,
        duration,
        force=force,
        at_least=_parsed("iterations", parse_count, env.iterations or str(_USUAL_ITERATIONS)),
    )
    workload = _workload(targets(names, choices), choices, steps, warm_up_limit, harness=harness)
    return Asked(workload, (*env.notes, f"engine {chosen}"), _BAD_INPUT if names != named else 0)


def _without_broken(names: list[str], env: EnvFile) -> list[str]:
    """What is wrong with one transport's settings keeps no other from being measured."""
    left = []
    for name in names:
        if (why := env.complaint_of(name)) is None:
            left.append(name)
        else:
            typer.echo(f"streamgauge: {name} is left out: {why}", err=True)
    if not left:
        raise BadInput("no transport is left to be measured")
    return left


def _workload(
    made: list[dict[str, Any]],
    choices: TransportChoices,
    steps: list[dict[str, Any]],
    warm_up_limit: str,
    *,
    harness: bool,
) -> Workload:
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    env, beside = choices.env, [harness_target()] if harness else []
    content: dict[str, Any] = {
        "kind": "transports",
        "name": "transports",
        "targets": [*beside, *made],
        "harness": beside[0]["name"] if beside else None,
        "load": {
            "messages": _USUAL_ITERATIONS,
            "rate": "1k/s",
            "message": {"size": {"protobuf": "order"}},
            "topics": {"name": "transports", "own_names": True, **env.topics},
            "acks": env.acks or "all",
            "engine": choices.engine,
            "proof": True,
            "drain_timeout": "10s",
            "warm_up_limit": warm_up_limit,
        },
        "cases": steps,
    }
    return parse(Workload, content, "transports")


def _steps(
    rps: str,
    warm_up: str,
    iterations: str | None,
    seconds: str | None,
    *,
    force: bool,
    at_least: int,
) -> list[dict[str, Any]]:
    """`at_least`: messages of a step that no flag says the length of; more where these would be too short."""
    if iterations is not None and seconds is not None:
        raise BadInput("--messages and --duration both say how long; give one of them")
    rates = [_parsed("--rate", parse_rate, item) for item in rps.split(",") if item.strip()]
    if not rates or min(rates) <= 0:
        raise BadInput(f"--rate {rps}: give rates above 0, separated by commas")
    # How long auto takes counts for its own limit.
    ahead = 0 if warm_up in ("auto", "none") else _parsed("--warm-up", parse_count, warm_up)
    steps = []
    for rate in rates:
        if seconds is not None:
            messages = max(1, round(rate * _parsed("--duration", parse_seconds, seconds)))
        elif iterations is not None:
            messages = _parsed("--messages", parse_count, iterations)
        else:
            messages = at_least if force else max(at_least, round(rate * SHORTEST_S))
        lasts_s = messages / rate
        if lasts_s < SHORTEST_S and not force:
            raise BadInput(
                f"{messages:,} messages at {rate:g}/s last {lasts_s:.2g} s, which is too short to tell "
                f"anything; allowed: {SHORTEST_S:g} s and more (--duration 10s), or --force"
            )
        limit_s = 2 * (messages + ahead) / rate + _SPARE_S
        steps.append(
            {
                "rate": rate,
                "messages": messages,
                "warm_up_messages": "auto" if warm_up == "auto" else ahead,
                "time_limit": round(limit_s, 1),
            }
        )
    return steps


def _parsed(flag: str, read: Any, text: str) -> Any:
    try:
        return read(text.strip())
    except ValueError as error:
        raise BadInput(f"{flag} {text}: {error}") from None
