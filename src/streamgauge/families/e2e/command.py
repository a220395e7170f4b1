"""`streamgauge e2e`: producers and consumers on one topic, four timestamps a message."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.core.units import counted
from streamgauge.flags.options import Acks, Brokers, wish

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked

_ASK_DEADLINE_S = 5.0
_PORT = 9092
_HOST_AND_PORT = re.compile(r"(?:[^:\[\]]+|\[[^\]]+\]):(?P<port>[0-9]+)")


def e2e(
    kafka_bootstrap_host: Annotated[
        str | None, wish("Kafka to test; else an embedded one is started.")
    ] = None,
    kafka_bootstrap_port: Annotated[
        int | None, typer.Option(help="Its port; else 9092.", min=1, max=65535, show_default=False)
    ] = None,
    bootstrap: Annotated[str | None, wish("The same as one: host:port[,host:port …].")] = None,
    target: Annotated[Path | None, wish("Target file: driver, address, client settings.")] = None,
    kafka_topic: Annotated[
        str | None, wish("Topic; made if it is not there, else used with its partitions.")
    ] = None,
    test_producer_processes: Annotated[int, typer.Option(help="How many producers.")] = 1,
    test_consumer_processes: Annotated[int, typer.Option(help="How many consumers.")] = 1,
    test_produce_messages: Annotated[str, typer.Option(help="Messages, all producers together.")] = "10000",
    test_produce_rate: Annotated[
        str, typer.Option(help="Messages a second, all together: 1000, 10k/s, or unlimited.")
    ] = "1000",
    producer_acks: Annotated[Acks, typer.Option(help="Who has to confirm a message.")] = Acks.all,
    message_size: Annotated[str, typer.Option(help="Size of a message: 700, 1KiB …")] = "700",
    partitions: Annotated[
        int | None, wish("Partitions of the topic; else its own, or one a consumer.")
    ] = None,
    replicas: Annotated[int, typer.Option(help="Replicas of the topic.")] = 1,
    warm_up_messages: Annotated[
        str, typer.Option(help="Sent ahead and kept apart: auto (until it is at rest), none, or how many.")
    ] = "auto",
    warm_up_limit: Annotated[str, typer.Option(help="How long auto may wait for that.")] = "60s",
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
    load: dict[str, Any] = {
        "producers": test_producer_processes,
        "consumers": test_consumer_processes,
        "messages": test_produce_messages,
        "rate": test_produce_rate,
        "message": {"size": message_size},
        "topics": {
            "name": kafka_topic or "e2e",
            "own_names": kafka_topic is None,
            "partitions": max(1, test_consumer_processes) if partitions is None else partitions,
            "replicas": replicas,
        },
        "acks": producer_acks.value,
        "warm_up_messages": warm_up_messages,
        "warm_up_limit": warm_up_limit,
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
