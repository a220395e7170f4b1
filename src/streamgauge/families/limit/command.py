"""`streamgauge limit`: the highest rate that holds objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import (
    Acks,
    Bootstrap,
    Brokers,
    Replicas,
    Slo,
    TargetFile,
    count_option,
    size_option,
    time_option,
    wish,
)

if TYPE_CHECKING:
    from streamgauge.spec.workload import Workload


@told_by(
    "streamgauge limit --slo 'p99<20ms' --slo lost=0",
    "streamgauge limit --slo 'p99<5ms' --from 10k/s --to 200k/s --duration 10s --partitions 4",
    aliases={"--message-size": "--size", "--step-time": "--duration"},
    begin_with=lambda: ("--slo", "p99<20ms", "--slo", "lost=0"),
)
def limit(
    slo: Slo = None,
    start_rate: Annotated[
        str, typer.Option("--from", metavar="RATE", help="Messages per second of the first step.")
    ] = "1000",
    top_rate: Annotated[str, typer.Option("--to", metavar="RATE", help="No step goes beyond this.")] = "2M/s",
    factor: Annotated[
        float, typer.Option(metavar="TIMES", help="Growth from step to step, until one does not hold.")
    ] = 2.0,
    within: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            help="How close the highest rate that holds and the next that does not must be.",
        ),
    ] = 2.0,
    duration: Annotated[str, time_option("How long a step is measured: 5s, 1min.")] = "5s",
    warm_up: Annotated[
        str,
        time_option("Sent before each step at its rate, and not measured: none, or how long: 1s."),
    ] = "1s",
    time_limit: Annotated[str, time_option("The search ends by then, with what it has found.")] = "15min",
    producers: Annotated[int, count_option("Producers, each in its own process.")] = 1,
    consumers: Annotated[int, count_option("Consumers, each in its own process.")] = 1,
    size: Annotated[str, size_option()] = "700",
    partitions: Annotated[
        int | None, wish("Partitions of the topic; by default one per consumer.", metavar="COUNT")
    ] = None,
    replicas: Replicas = 1,
    acks: Annotated[Acks, typer.Option(help="Who has to confirm a message.")] = Acks.all,
    topic_prefix: Annotated[
        str, typer.Option(metavar="NAME", help="Prefix of the topics' names; there is a topic per step.")
    ] = "limit",
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    brokers: Brokers = None,
) -> Workload:
    """Find the highest rate that meets objectives: step up, then halve the gap; each rate twice."""
    from streamgauge.flags.kafka_target import kafka_target, name_of
    from streamgauge.spec.loading import parse
    from streamgauge.spec.objective import flagged_objectives
    from streamgauge.spec.workload import Workload

    if not slo:
        raise BadInput("limit: say what is to hold, as in --slo 'p99<20ms' --slo lost=0")
    objectives = flagged_objectives("limit", slo)
    search = {
        "from": start_rate,
        "to": top_rate,
        "factor": factor,
        "within_percent": within,
        **_warm_up(warm_up),
        "time_limit": time_limit,
    }
    load: dict[str, Any] = {
        "producers": producers,
        "consumers": consumers,
        "duration": duration,
        "message": {"size": size},
        "topics": {
            "name": topic_prefix,
            "partitions": max(1, consumers) if partitions is None else partitions,
            "replicas": replicas,
            "own_names": True,
        },
        "acks": acks.value,
    }
    content = {
        "kind": "limit",
        "name": "limit",
        "targets": [kafka_target(bootstrap, target, brokers, name=name_of(bootstrap), consumers=consumers)],
        "objectives": objectives,
        "load": load,
        "search": search,
    }
    return parse(Workload, content, "limit", whole="")


def _warm_up(given: str) -> dict[str, Any]:
    if given == "auto":
        raise BadInput(
            "--warm-up auto: a step has a warm-up of fixed length, and one that was not at rest after it is "
            "not decidable; allowed: none, or how long, as in 1s"
        )
    return {"warm_up": 0, "first_warm_up": 0} if given == "none" else {"warm_up": given}
