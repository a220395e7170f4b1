"""`streamgauge topic`: topics by hand, where no other tool is at hand."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.core.errors import BadInput
from streamgauge.core.units import counted
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Bootstrap, Debug, TargetFile, wish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamgauge.drivers.kafka.driver import KafkaDriver

topic_app = typer.Typer(help="Create, list and delete topics of a Kafka cluster.", no_args_is_help=True)

_DEADLINE_S = 15.0

Names = Annotated[list[str], typer.Argument(metavar="TOPIC…", help="Names of topics.", show_default=False)]


@topic_app.command()
@told_by(
    "streamgauge topic create orders --partitions 4",
    "streamgauge topic create orders --config retention.ms=60000 --bootstrap kafka:9092",
)
def create(
    names: Names,
    partitions: Annotated[int, typer.Option(metavar="COUNT", help="Partitions of each topic.", min=1)] = 1,
    replicas: Annotated[int, typer.Option(metavar="COUNT", help="Replicas of each partition.", min=1)] = 1,
    config: Annotated[
        list[str] | None,
        wish("A setting, as in retention.ms=60000. Repeatable.", metavar="NAME=VALUE"),
    ] = None,
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    debug: Debug = False,
) -> None:
    """Create topics; it is an error if one of them exists. By default the broker sets the timestamps."""
    from streamgauge.spec.loading import parse
    from streamgauge.spec.topics import Topics

    wanted = {"partitions": partitions, "replicas": replicas, "config": _settings(config or ())}
    for name in names:
        parse(Topics, {**wanted, "name": name}, "topic create")
    with _opened(bootstrap, target) as driver:
        there = driver.found_topics(_DEADLINE_S)
        if taken := [name for name in names if name in there]:
            raise BadInput(f"topic create: already there: {', '.join(taken)}; nothing was made")
        made = driver.prepare_topics(parse(Topics, wanted, "topic create"), tuple(dict.fromkeys(names)))
    for name in made:
        typer.echo(f"made {name}: {counted(partitions, 'partition')}, {counted(replicas, 'replica')}")


@topic_app.command("list")
@told_by("streamgauge topic list", "streamgauge topic list --target production.yaml")
def list_topics(
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    internal: Annotated[bool, typer.Option("--internal", help="Also list Kafka's internal topics.")] = False,
    debug: Debug = False,
) -> None:
    """List topics with their partitions and replicas."""
    with _opened(bootstrap, target) as driver:
        found = {
            name: topic
            for name, topic in driver.found_topics(_DEADLINE_S).items()
            if internal or name[:2] != "__"
        }
    if as_json:
        typer.echo(json.dumps({name: topic._asdict() for name, topic in found.items()}, indent=2))
        return
    for name, topic in found.items():
        typer.echo(f"{name}  {counted(topic.partitions, 'partition')}, {counted(topic.replicas, 'replica')}")
    if not found:
        typer.echo("no topics", err=True)


@topic_app.command()
@told_by("streamgauge topic delete orders")
def delete(
    names: Names, bootstrap: Bootstrap = None, target: TargetFile = None, debug: Debug = False
) -> None:
    """Delete topics. If one of them does not exist, that is an error and none is deleted."""
    with _opened(bootstrap, target) as driver:
        there = driver.found_topics(_DEADLINE_S)
        if missing := [name for name in names if name not in there]:
            raise BadInput(f"topic delete: not there: {', '.join(missing)}; nothing was deleted")
        driver.remove_topics(list(dict.fromkeys(names)))
    for name in dict.fromkeys(names):
        typer.echo(f"deleted {name}")


@contextmanager
def _opened(bootstrap: str | None, file: Path | None) -> Iterator[KafkaDriver]:
    """The cluster at the address, of the target, or the local one that is up."""
    from streamgauge.flags.kafka_target import kafka_target
    from streamgauge.flags.kafka_there import kafka_there

    with kafka_there(kafka_target(bootstrap, file, None)) as kafka:
        if kafka is None and file is not None:
            raise BadInput(f"--target {file}: is not a running Kafka; `topic` works with Kafka only")
        if kafka is None:
            raise BadInput(
                "topic: say where Kafka is: --bootstrap HOST:PORT, --target FILE, or `streamgauge cluster up`"
            )
        yield kafka


def _settings(given: list[str] | tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"--config {text}: is not name=value, as in retention.ms=60000")
        found[name.strip()] = value.strip()
    return found
