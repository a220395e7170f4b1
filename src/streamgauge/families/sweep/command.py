"""`streamgauge sweep`: topics × partitions × replicas × sizes × acks, each partition with its own stream."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import (
    Bootstrap,
    Brokers,
    TargetFile,
    WarmUpLimit,
    count_option,
    size_option,
    wish,
)
from streamgauge.spec.ranges import listed_values

if TYPE_CHECKING:
    from streamgauge.spec.workload import Workload


KNOBS = {
    "topics": "topics.count",
    "partitions": "topics.partitions",
    "replicas": "topics.replicas",
    "size": "message.size",
    "stream-size": "stream_size",
    "acks": "acks",
    "rate": "rate",
    "completions": "completions",
    "eos": "transactions",
}
"""Flags by the field of `load` that they set."""
_OLDER_KNOBS = {"message-size": "size"}

_USUAL_STREAM = "1MiB"
_VALUES = "A value, a list 1,2,4 or a range min:max:step (step may be *2)."


@told_by(
    "streamgauge sweep --partitions 1:16:*2 --acks 1,all --iterations 3",
    "streamgauge sweep --size 64,1KiB,16KiB --rate 5k/s --duration 30s",
    "streamgauge sweep --case topics=2,partitions=4 --case topics=4,partitions=2",
    aliases={"--message-size": "--size", "--warm-up-messages": "--warm-up", "--agents": "--producers"},
)
def sweep(
    topics: Annotated[str, typer.Option(metavar="COUNT", help=f"Topics. {_VALUES}")] = "1",
    partitions: Annotated[
        str, typer.Option(metavar="COUNT", help="Partitions of each topic; several values as for --topics.")
    ] = "1",
    replicas: Annotated[
        str, typer.Option(metavar="COUNT", help="Replicas of each partition; several values as for --topics.")
    ] = "1",
    size: Annotated[str, size_option("64", several=True)] = "64",
    stream_size: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Bytes to send to each partition.", show_default="1MiB"),
    ] = None,
    messages: Annotated[
        str | None,
        wish("Instead of --stream-size: messages of each case, all producers together.", metavar="COUNT"),
    ] = None,
    duration: Annotated[
        str | None, wish("Instead of --stream-size: how long each case is measured: 30s.", metavar="TIME")
    ] = None,
    acks: Annotated[
        str,
        typer.Option(
            metavar="0|1|all", help="Who has to confirm a message; several values separated by commas."
        ),
    ] = "1",
    rate: Annotated[
        str,
        typer.Option(
            metavar="RATE", help="Messages per second, all producers together: 1000, 10k/s, or unlimited."
        ),
    ] = "unlimited",
    completions: Annotated[
        bool, typer.Option("--completions/--no-completions", help="Delivery reports for every message.")
    ] = True,
    eos: Annotated[bool, typer.Option("--eos", help="Exactly once: send in transactions.")] = False,
    iterations: Annotated[
        int, typer.Option(metavar="COUNT", help="How often everything is repeated.", min=1)
    ] = 1,
    case: Annotated[
        list[str] | None,
        wish(
            "One case, as in topics=2,partitions=4. Repeatable. Combined with the lists above.",
            metavar="KNOB=VALUE,…",
        ),
    ] = None,
    warm_up: Annotated[
        str,
        typer.Option(
            metavar="COUNT",
            help="Sent first, and not measured: auto (until it is at rest), none, or how many per partition.",
        ),
    ] = "auto",
    warm_up_limit: WarmUpLimit = "60s",
    producers: Annotated[
        int | None,
        count_option(
            "Processes that produce; they share the partitions.", show_default="one per core", min=1
        ),
    ] = None,
    consumers: Annotated[
        int | None,
        count_option("Processes that consume.", show_default="as many as produce", min=1),
    ] = None,
    topic_prefix: Annotated[str, typer.Option(metavar="NAME", help="Prefix of the topics' names.")] = "sweep",
    keep_topics: Annotated[
        bool, typer.Option("--keep-topics", help="Do not delete the topics afterwards.")
    ] = False,
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    brokers: Brokers = None,
) -> Workload:
    """Measure every combination of settings: figures per test, topic and partition."""
    from streamgauge.flags.kafka_target import kafka_target, name_of
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    given = {
        "topics": topics,
        "partitions": partitions,
        "replicas": replicas,
        "size": size,
        "acks": acks,
        "rate": rate,
    }
    amount = _amount(stream_size, messages, duration)
    if "stream_size" in amount:
        given["stream-size"] = amount.pop("stream_size")
    knobs = {name: _values(name, text) for name, text in given.items()}
    listed = [_listed(text) for text in case or ()]
    _check_exactly_once(eos, knobs["acks"], listed)
    producers = producers or os.cpu_count() or 1
    load: dict[str, Any] = {
        "streams": "per_partition",
        "producers": producers,
        "consumers": consumers or producers,
        "completions": completions,
        **amount,
        **_warm_up(warm_up, warm_up_limit),
        "topics": {"name": topic_prefix, "keep": keep_topics, "own_names": True},
    }
    if eos:
        load["transactions"] = {}
    for name, values in knobs.items():
        _set(load, KNOBS[name], values[0])
    sweep = {KNOBS[name]: values for name, values in knobs.items() if len(values) > 1}
    content: dict[str, Any] = {
        "kind": "sweep",
        "name": "sweep",
        "targets": [
            kafka_target(
                bootstrap, target, brokers, name=name_of(bootstrap), consumers=_most_streams(knobs, listed)
            )
        ],
        "load": load,
        "sweep": sweep,
        "cases": listed,
        "iterations": iterations,
    }
    return parse(Workload, content, "sweep")


def _amount(stream_size: str | None, messages: str | None, duration: str | None) -> dict[str, str]:
    """How much of it, as the field of `load` that says so."""
    named = {"stream_size": stream_size, "messages": messages, "duration": duration}
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) > 1:
        flags = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise BadInput(f"sweep: {flags} each say how much to send; give one of them")
    return given or {"stream_size": _USUAL_STREAM}


def _warm_up(messages: str, limit: str) -> dict[str, Any]:
    if messages == "auto":
        return {"warm_up_messages": "auto", "warm_up_limit": limit}
    return {"stream_warm_up_messages": 0 if messages == "none" else messages}


def _check_exactly_once(eos: bool, acks: list[Any], listed: list[dict[str, Any]]) -> None:
    """By the names of the flags: who gave them knows of no transactions."""
    given = ",".join(map(str, acks))
    if eos and any(value != "all" for value in acks):
        raise BadInput(f"--eos: exactly once needs --acks all; it is --acks {given}")
    for fields in listed:
        of_case = str(fields.get(KNOBS["acks"], "all" if acks == ["all"] else given))
        if fields.get(KNOBS["eos"]) is not None and of_case != "all":
            raise BadInput(
                f"--case eos=true: exactly once needs acks=all in it, or --acks all; it is {of_case}"
            )


def _values(name: str, text: str) -> list[Any]:
    """What a flag lists; a range counts for several."""
    try:
        values = [_plain(name, value) for value in listed_values(KNOBS[name], text)]
    except ValueError as error:
        raise BadInput(f"--{name}: {error}") from None
    if not values:
        raise BadInput(f"--{name}: has no values; {_VALUES.lower()}")
    return values


def _plain(name: str, value: Any) -> Any:
    """Numbers as numbers, so that a workload reads well."""
    if name == "acks":
        return {"-1": "all"}.get(str(value), str(value))
    if name in ("completions", "eos"):
        words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
        if str(value).lower() not in words:
            raise ValueError(f"{value!r} is neither true nor false")
        chosen = words[str(value).lower()]
        return ({} if chosen else None) if name == "eos" else chosen
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _listed(text: str) -> dict[str, Any]:
    """`topics=2,partitions=4` as fields of `load`."""
    fields: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        given, sign, value = part.partition("=")
        name = _OLDER_KNOBS.get(given.strip(), given.strip())
        if not sign or name not in KNOBS:
            raise BadInput(f"--case {text}: {part!r} is not knob=value; knobs: {', '.join(KNOBS)}")
        try:
            fields[KNOBS[name]] = _plain(name, value.strip())
        except ValueError as error:
            raise BadInput(f"--case {text}: {error}") from None
    if not fields:
        raise BadInput(f"--case {text!r}: is empty; as in topics=2,partitions=4")
    return fields


def _set(load: dict[str, Any], path: str, value: Any) -> None:
    *outer, field = path.split(".")
    place = load
    for name in outer:
        place = place.setdefault(name, {})
    place[field] = value


def _most_streams(knobs: dict[str, list[Any]], listed: list[dict[str, Any]]) -> int:
    """Of the largest case; what cannot be counted is refused elsewhere."""

    def most(name: str) -> int:
        values = [*knobs[name], *(fields[KNOBS[name]] for fields in listed if KNOBS[name] in fields)]
        return max((value for value in values if isinstance(value, int)), default=1)

    return most("topics") * most("partitions")
