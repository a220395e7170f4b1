"""`streamgauge compare`: flags → a workload that compares two client libraries."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import (
    Acks,
    Bootstrap,
    Brokers,
    EngineChoice,
    Replicas,
    WarmUpLimit,
    count_option,
    listed,
    time_option,
)
from streamgauge.flags.shipped_targets import shipped_target

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked


class Preset(StrEnum):
    fair = "fair"
    seed = "seed"


class ProcessChoice(StrEnum):
    own = "own"
    shared = "shared"


def _first_flags() -> Iterator[str]:
    for side in ("a", "b"):
        yield from (f"--{side}", shipped_target(__file__, side)["driver"])


@told_by(
    "streamgauge compare --a one.yaml --b two.yaml",
    "streamgauge compare --a one.yaml --b two.yaml --size 100,10kB --messages 1000 --repeat 30",
    "streamgauge compare --a old.yaml --b new.yaml --until-decided --time-limit 30min",
    aliases={"--length": "--size", "--warm-up-messages": "--warm-up"},
    begin_with=_first_flags,
)
def compare(
    a: Annotated[str, typer.Option("--a", metavar="T1", help="A: a driver's name, or a target file.")],
    b: Annotated[str, typer.Option("--b", metavar="T2", help="B: the same.")],
    size: Annotated[
        str, typer.Option(metavar="BYTES", help="Message sizes, separated by commas: 10,1kB,100kB.")
    ] = "10,100,1000,10000,100000",
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Messages per test, separated by commas.",
            show_default="10,100,1000,10000; 10,100 with --round-trip",
        ),
    ] = None,
    repeat: Annotated[int, count_option("Repetitions of each test, after one that is not counted.")] = 20,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided", help="Add rounds until every verdict is decided; --repeat is the minimum."
        ),
    ] = False,
    time_limit: Annotated[
        str | None,
        time_option("Time limit for everything; verdicts still open by then stay open.", show_default="12h"),
    ] = None,
    topic_prefix: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Topics are {prefix}__{name}__{length}__{n}.",
            show_default="testTopic-{the run's name}",
        ),
    ] = None,
    partitions: Annotated[int, count_option("Partitions of each topic.")] = 1,
    replicas: Replicas = 1,
    leave_topics: Annotated[bool, typer.Option("--leave-topics", help="Do not delete the topics.")] = False,
    preset: Annotated[
        Preset, typer.Option(help="fair: same settings for both; seed: those of the KNet benchmark.")
    ] = Preset.fair,
    linger_ms: Annotated[
        int | None,
        typer.Option(
            metavar="MS", help="Producer's linger, in ms. This and the next flags override the preset."
        ),
    ] = None,
    batch_size: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Size of a producer's batch.")
    ] = None,
    max_in_flight: Annotated[int | None, count_option("Most unanswered requests to a broker.")] = None,
    send_buffer: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Size of the socket's send buffer.")
    ] = None,
    receive_buffer: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Size of the socket's receive buffer.")
    ] = None,
    fetch_min_bytes: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="How much data a broker waits for before it answers a fetch."),
    ] = None,
    acks: Annotated[Acks | None, typer.Option(help="Who has to confirm a message.")] = None,
    check_on_consume: Annotated[
        bool, typer.Option("--check-on-consume", help="Check every value, as part of the measured time.")
    ] = False,
    produce_only: Annotated[bool, typer.Option("--produce-only", help="Do not consume.")] = False,
    round_trip: Annotated[
        bool,
        typer.Option(
            "--round-trip", help="Instead of the above: send each message when the one before has come back."
        ),
    ] = False,
    burst_length: Annotated[
        int | None,
        count_option("Pause after this many messages.", show_default="100 with --burst-interval"),
    ] = None,
    burst_interval: Annotated[
        str | None,
        time_option("Length of that pause; it is not counted.", show_default="100ms with --burst-length"),
    ] = None,
    engine: Annotated[
        EngineChoice, typer.Option(help="Where the loop runs: in Python, or in the library's JVM.")
    ] = EngineChoice.python,
    mix_engines: Annotated[
        bool, typer.Option("--mix-engines", help="With jvm: let a library without that engine run in Python.")
    ] = False,
    process: Annotated[
        ProcessChoice, typer.Option(help="A process per library, or one for all.")
    ] = ProcessChoice.own,
    warm_up: Annotated[
        str,
        typer.Option(
            metavar="COUNT",
            help="Messages of each library before the first test: auto (until it is at rest), "
            "none, or how many.",
        ),
    ] = "auto",
    warm_up_limit: WarmUpLimit = "60s",
    bootstrap: Bootstrap = None,
    brokers: Brokers = None,
) -> Asked:
    """Compare two client libraries: the same short tests in turn, with a verdict for each."""
    from streamgauge.families.compare.workload import CompareWorkload
    from streamgauge.flags.asked import Asked
    from streamgauge.spec.loading import parse

    settings = {
        "linger_ms": linger_ms,
        "batch_size": batch_size,
        "max_in_flight": max_in_flight,
        "send_buffer": send_buffer,
        "receive_buffer": receive_buffer,
        "fetch_min_bytes": fetch_min_bytes,
    }
    usual = "10,100" if round_trip else "10,100,1000,10000"
    comparison: dict[str, Any] = {
        "lengths": listed(size),
        "messages": listed(usual if messages is None else messages),
        "repeat": repeat,
        "until_decided": until_decided,
        **({} if time_limit is None else {"time_limit": time_limit}),
        "topics": {
            "name": topic_prefix or "testTopic",
            "own_names": topic_prefix is None,
            "partitions": partitions,
            "replicas": replicas,
            "keep": leave_topics,
        },
        "preset": preset.value,
        "settings": {name: value for name, value in settings.items() if value is not None},
        "acks": acks and acks.value,
        "check_on_consume": check_on_consume,
        "produce_only": produce_only,
        "round_trip": round_trip,
        "bursts": _bursts(burst_length, burst_interval),
        "engine": engine.value,
        "mix_engines": mix_engines,
        "process": process.value,
        "warm_up_messages": warm_up,
        "warm_up_limit": warm_up_limit,
    }
    content = {
        "kind": "compare",
        "name": "compare",
        "targets": _targets(a, b, bootstrap, brokers),
        "comparison": comparison,
    }
    workload = parse(CompareWorkload, content, "compare")
    if until_decided and time_limit is None:
        hours = workload.comparison.time_limit / 3600
        note = f"rounds are added until every verdict is there, for {hours:g} hours at most; --time-limit 10m"
        return Asked(workload, (f"{note} for less",))
    return Asked(workload)


def _bursts(length: int | None, interval: str | None) -> dict[str, Any] | None:
    given = {"length": length, "interval": interval}
    found = {name: value for name, value in given.items() if value is not None}
    return found or None


def _targets(a: str, b: str, bootstrap: str | None, brokers: int | None) -> list[dict[str, Any]]:
    if bootstrap is not None and brokers is not None:
        raise BadInput("--brokers is for the embedded Kafka; leave it out when --bootstrap is given")
    made = [_target("--a", a, bootstrap, brokers), _target("--b", b, bootstrap, brokers)]
    if made[0]["name"] == made[1]["name"]:
        made[1]["name"] += "-b"
    return made


def _target(flag: str, given: str, bootstrap: str | None, brokers: int | None) -> dict[str, Any]:
    """From a file, if there is one of that name; else the driver with nothing but its address."""
    from streamgauge.drivers.kafka.driver import KafkaDriver
    from streamgauge.drivers.registry import driver_class
    from streamgauge.flags.embedded import embedded_system
    from streamgauge.spec.loading import load_target, parse
    from streamgauge.spec.target import Target

    if Path(given).is_file():
        target = load_target(Path(given))
    elif Path(given).suffix in (".yaml", ".yml") or "/" in given:
        raise BadInput(f"{flag} {given}: no such file; give a target file or a driver's name")
    else:
        target = parse(Target, {"name": given, "driver": given}, flag)
    found: dict[str, Any] = target.model_dump(mode="json", exclude_defaults=True)
    driver = driver_class(target)
    if not issubclass(driver, KafkaDriver):
        return found
    settings = found.get("settings", {})
    has_address = (
        "bootstrap" in settings or "security_file" in settings or driver.bootstrap_name in target.client
    )
    if bootstrap is not None:
        found["settings"] = {**settings, "bootstrap": bootstrap}
    elif not has_address and "system" not in found:
        found["system"] = embedded_system(brokers)
    return found
