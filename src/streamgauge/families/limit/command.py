"""`streamgauge limit`: the highest rate that holds objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.flags.options import Acks, Bootstrap, Brokers, Slo, TargetFile, wish

if TYPE_CHECKING:
    from streamgauge.spec.workload import Workload


def limit(
    slo: Slo = None,
    start_rate: Annotated[str, typer.Option("--from", help="Messages a second of the first step.")] = "1000",
    top_rate: Annotated[str, typer.Option("--to", help="No step goes beyond this.")] = "2M/s",
    factor: Annotated[float, typer.Option(help="From step to step, until one does not hold.")] = 2.0,
    within: Annotated[
        float, typer.Option(help="Percent between what holds and what does not, at the end.")
    ] = 2.0,
    step_time: Annotated[str, typer.Option(help="How long a step is measured.")] = "5s",
    warm_up: Annotated[str, typer.Option(help="Ahead of each step, at its rate, kept apart.")] = "1s",
    time_limit: Annotated[str, typer.Option(help="The search ends by then, with what it knows.")] = "15min",
    producers: Annotated[int, typer.Option(help="How many producers.")] = 1,
    consumers: Annotated[int, typer.Option(help="How many consumers.")] = 1,
    message_size: Annotated[str, typer.Option(help="Size of a message: 700, 1KiB …")] = "700",
    partitions: Annotated[int | None, wish("Partitions of the topic; else one a consumer.")] = None,
    replicas: Annotated[int, typer.Option(help="Replicas of the topic.")] = 1,
    acks: Annotated[Acks, typer.Option(help="Who has to confirm a message.")] = Acks.all,
    topic_prefix: Annotated[str, typer.Option(help="Topics' names begin so, one a step.")] = "limit",
    bootstrap: Bootstrap = None,
    target: TargetFile = None,
    brokers: Brokers = None,
) -> Workload:
    """Find the highest rate that holds objectives: steps upwards, then halving, every step twice."""
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
        "warm_up": warm_up,
        "time_limit": time_limit,
    }
    load: dict[str, Any] = {
        "producers": producers,
        "consumers": consumers,
        "duration": step_time,
        "message": {"size": message_size},
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
