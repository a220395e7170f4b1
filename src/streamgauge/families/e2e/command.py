"""`streamgauge e2e`: producers and consumers on one topic, four timestamps a message."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.core.units import counted
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import (
    Acks,
    Bootstrap,
    Brokers,
    Replicas,
    TargetFile,
    WarmUpLimit,
    count_option,
    size_option,
    wish,
)

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked

_ASK_DEADLINE_S = 5.0
_PORT = 9092
_HOST_AND_PORT = re.compile(r"(?:[^:\[\]]+|\[[^\]]+\]):(?P<port>[0-9]+)")


@told_by(
    "streamgauge e2e",
    "streamgauge e2e --rate 10k/s --duration 60s --size 1KiB --partitions 4 --consumers 2",
    "streamgauge e2e --bootstrap broker-1:9092 --kafka-topic orders --acks 1 --slo 'p99<20ms'",
    aliases={
        "--test-producer-processes": "--producers",
        "--test-consumer-processes": "--consumers",
        "--test-produce-messages": "--messages",
        "--test-produce-rate": "--rate",
        "--producer-acks": "--acks",
        "--message-size": "--size",
        "--warm-up-messages": "--warm-up",
    },
)
def e2e(
    rate: Annotated[
        str,
        typer.Option(
            metavar="RATE", help="Messages per second, all producers together: 1000, 10k/s, or unlimited."
        ),
    ] = "1000",
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT", help="Messages, all producers together: 10000, 1M.", show_default="10000"
        ),
    ] = None,
    duration: Annotated[
        str | None, wish("Instead of --messages: how long to measure: 60s, 5min, 12h.", metavar="TIME")
    ] = None,
    raw_limit: Annotated[
        str | None,
        wish("Events on disk, past which the oldest are rolled up; else 2GiB.", metavar="BYTES"),
    ] = None,
    size: Annotated[str, size_option()] = "700",
    acks: Annotated[Acks, typer.Option(help="Who has to confirm a message.")] = Acks.all,
    producers: Annotated[int, count_option("Producers, each in its own process.")] = 1,
    consumers: Annotated[
        int, count_option("Consumers, each in its own process; 0: messages are only produced.")
    ] = 1,
    partitions: Annotated[
        int | None,
        wish(
            "Partitions of the topic; by default those of an existing topic, or one per consumer.",
            metavar="COUNT",
        ),
    ] = None,
    replicas: Replicas = 1,
    warm_up: Annotated[
        str,
        typer.Option(
            metavar="COUNT",
            help="Sent first, and not measured: auto (until it is at rest), none, or how many.",
        ),
    ] = "auto",
    warm_up_limit: WarmUpLimit = "60s",
    kafka_bootstrap_host: Annotated[
        str | None, wish("Kafka to test; by default an embedded one is started.", metavar="HOST")
    ] = None,
    kafka_bootstrap_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Its port; by default 9092.", min=1, max=65535, show_default=False),
    ] = None,
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    kafka_topic: Annotated[
        str | None,
        wish("Topic; created if it does not exist, otherwise used with its partitions.", metavar="NAME"),
    ] = None,
    brokers: Brokers = None,
) -> Asked:
    """Send messages through Kafka and account for every one, with its four times."""
    from streamgauge.families.e2e.workload import EndToEndWorkload
    from streamgauge.flags.asked import Asked
    from streamgauge.flags.kafka_target import kafka_target
    from streamgauge.spec.loading import parse

    address = _address(kafka_bootstrap_host, kafka_bootstrap_port, bootstrap)
    chosen = kafka_target(address, target, brokers)
    notes: tuple[str, ...] = ()
    if kafka_topic is not None and partitions is None:
        partitions = _partitions_there(chosen, kafka_topic)
        if partitions is not None:
            its = counted(partitions, "partition")
            notes = (f"topic {kafka_topic} exists: it is used with its {its}, and kept",)
    if messages is not None and duration is not None:
        raise BadInput("--messages and --duration both say how long; give one of them")
    load: dict[str, Any] = {
        "producers": producers,
        "consumers": consumers,
        **({"messages": messages or "10000"} if duration is None else {"duration": duration}),
        "rate": rate,
        "message": {"size": size},
        "topics": {
            "name": kafka_topic or "e2e",
            "own_names": kafka_topic is None,
            "partitions": max(1, consumers) if partitions is None else partitions,
            "replicas": replicas,
        },
        "acks": acks.value,
        "warm_up_messages": warm_up,
        "warm_up_limit": warm_up_limit,
        **({} if raw_limit is None else {"recording": {"raw_limit": raw_limit}}),
    }
    content = {
        "kind": "e2e",
        "name": "e2e",
        "targets": [chosen],
        "load": load,
    }
    return Asked(parse(EndToEndWorkload, content, "e2e"), notes)


def _address(host: str | None, port: int | None, bootstrap: str | None) -> str | None:
    if host is None:
        return bootstrap
    if bootstrap is not None:
        raise BadInput("--bootstrap and --kafka-bootstrap-host both name an address; give one of them")
    if "," in host:
        raise BadInput(f"--kafka-bootstrap-host {host}: is one host; give several as --bootstrap host:port,…")
    with_port = _HOST_AND_PORT.fullmatch(host)
    if with_port is None:
        is_bare_ip6 = host.count(":") > 1 and not host.startswith("[")
        return f"{f'[{host}]' if is_bare_ip6 else host}:{port or _PORT}"
    if port is not None and port != int(with_port["port"]):
        raise BadInput(
            f"--kafka-bootstrap-host {host}: --kafka-bootstrap-port says {port}; give the port in one of them"
        )
    return host


def _partitions_there(target: dict[str, Any], topic: str) -> int | None:
    """None when the topic is not there, or nobody can be asked. A cluster that does not answer is none of our
    business here: whoever runs the workload says so."""
    from streamgauge.flags.kafka_there import kafka_there

    with suppress(Unreachable), kafka_there(target) as kafka:
        found = None if kafka is None else kafka.found_topics(_ASK_DEADLINE_S).get(topic)
        return None if found is None else found.partitions
    return None
