"""`streamgauge fanout`: flags → a workload of more and more clients, by Kafka itself and by a gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.families.fanout.gateway_flags import (
    AdapterSet,
    DataAdapter,
    GatewayCa,
    GatewayUser,
    Mode,
    access_settings,
)
from streamgauge.families.fanout.names import SCENARIO_NAMES
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Bootstrap, Brokers, WarmUpLimit, count_option, listed, time_option, wish
from streamgauge.spec.ranges import listed_values

if TYPE_CHECKING:
    from streamgauge.spec.workload import Workload


_WAYS = ("kafka-groups", "kafka-standalone", "gateway")


@told_by(
    "streamgauge fanout --clients 1k:16k:*2",
    "streamgauge fanout --via gateway,kafka-groups --scenario 2 --duration 30s",
)
def fanout(
    scenario: Annotated[
        str,
        typer.Option(metavar="NAME,…", help=f"{', '.join(SCENARIO_NAMES)}; several separated by commas."),
    ] = "1",
    clients: Annotated[
        str,
        typer.Option(
            metavar="COUNT,…", help="Numbers of clients, one after the other: 1k,2k,4k, or a range 1k:16k:*2."
        ),
    ] = "1k,2k,4k,8k",
    via: Annotated[
        str, typer.Option(metavar="WAY,…", help=f"Ways to deliver: {', '.join(_WAYS)}.")
    ] = "gateway",
    duration: Annotated[str, time_option("How long each point is measured, after its warm-up: 60s.")] = "60s",
    warm_up: Annotated[
        str, time_option("Sent first, and not measured: auto (until it is at rest), none, or how long.")
    ] = "auto",
    warm_up_limit: WarmUpLimit = "60s",
    measured: Annotated[
        str,
        count_option("How many clients decode and time every update, or all; the others ignore the data."),
    ] = "200",
    parse_json: Annotated[
        bool, typer.Option("--parse-json/--no-parse-json", help="Whether Kafka's clients parse JSON values.")
    ] = True,
    producers: Annotated[
        int | None, wish("Producers; by default as many as the scenario has.", metavar="COUNT")
    ] = None,
    rate: Annotated[
        str | None,
        wish(
            "Messages per second, all producers together: 20, 1k/s; by default the scenario's.",
            metavar="RATE",
        ),
    ] = None,
    pause: Annotated[
        str | None,
        wish("Instead of --rate: pause between messages of a producer: 500ms.", metavar="TIME"),
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="BYTES", help="Size of the random text in a message: 1024, 4KiB.")
    ] = "1024",
    max_frequency: Annotated[
        str,
        typer.Option(
            metavar="RATE",
            help="For a gateway's subscriptions: unfiltered, unlimited, or updates per second.",
        ),
    ] = "unfiltered",
    fields: Annotated[
        str | None, wish("Fields that a gateway's clients subscribe to; by default all.", metavar="NAME,…")
    ] = None,
    ramp_up: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="New clients per second.", show_default="2000 for a gateway, 200 for Kafka"
        ),
    ] = None,
    clients_per_process: Annotated[
        str | None,
        count_option("Clients in one swarm process.", show_default="19000 for a gateway, 1000 for Kafka"),
    ] = None,
    gateway_processes: Annotated[
        int | None, count_option("Processes of the gateway.", show_default="one per 17,000 clients")
    ] = None,
    gateway_hosts: Annotated[
        str | None,
        wish("Followers that run a gateway each; by default one runs beside the launcher.", metavar="NAME,…"),
    ] = None,
    swarm_hosts: Annotated[
        str | None, wish("Followers that run the clients; by default any.", metavar="NAME,…")
    ] = None,
    mean_limit: Annotated[str, time_option("A series ends when its mean latency exceeds this: 5s.")] = "5s",
    bootstrap: Bootstrap = None,
    brokers: Brokers = None,
    gateway: Annotated[
        str | None,
        wish(
            "http(s)://host:port of a running gateway; by default one is started for each point.",
            metavar="URL",
        ),
    ] = None,
    broker_metrics: Annotated[
        list[str] | None,
        wish(
            "http://host:port/metrics of a broker on another machine, in Prometheus format. Repeatable.",
            metavar="URL",
        ),
    ] = None,
    topic: Annotated[
        str | None, wish("With --gateway: the topic that the gateway reads.", metavar="NAME")
    ] = None,
    adapter_set: AdapterSet = None,
    data_adapter: DataAdapter = None,
    mode: Mode = None,
    gateway_user: GatewayUser = None,
    gateway_ca: GatewayCa = None,
) -> Workload:
    """Deliver the same messages to more and more clients, until a way of delivering cannot hold."""
    from streamgauge.spec.loading import parse
    from streamgauge.spec.workload import Workload

    ways = listed(via)
    unknown = [way for way in ways if way not in _WAYS]
    if unknown or not ways:
        raise BadInput(f"--via {via}: allowed: {', '.join(_WAYS)}")
    wanted: dict[str, Any] = {
        "scenarios": listed(scenario),
        "clients": _ladder(clients),
        "duration": duration,
        "warm_up": warm_up,
        "warm_up_limit": warm_up_limit,
        "groups": [way for way in ways if way == "kafka-groups"],
        "measured": measured,
        "parse_json": parse_json,
        "producers": producers,
        "rate": rate,
        "pause": pause,
        "size": size,
        "max_frequency": _frequency(max_frequency),
        "fields": listed(fields or ""),
        "ramp_up_per_s": ramp_up,
        "gateway_processes": gateway_processes,
        "gateway_hosts": listed(gateway_hosts or ""),
        "swarm_hosts": listed(swarm_hosts or ""),
        "mean_limit": mean_limit,
        "broker_metrics": broker_metrics or [],
    }
    if clients_per_process is not None:
        wanted |= dict.fromkeys(
            ("push_clients_per_process", "kafka_clients_per_process"), clients_per_process
        )
    if topic is not None:
        wanted["topics"] = {"name": topic, "keep": True}
    elif gateway is not None:
        raise BadInput("--gateway: give --topic, too: the one that this gateway reads")
    access = access_settings(adapter_set, data_adapter, mode, gateway_user, gateway_ca)
    _check_access(access, gateway)
    content = {
        "kind": "fanout",
        "name": "fanout",
        "targets": [_target(way, bootstrap, brokers, gateway, access) for way in dict.fromkeys(ways)],
        "fanout": wanted,
    }
    return parse(Workload, content, "fanout")


def _check_access(access: dict[str, Any], gateway: str | None) -> None:
    if access.get("mode") == "COMMAND":
        raise BadInput(
            "--mode COMMAND: no scenario's messages have a command; read with: streamgauge consume"
        )
    if gateway is None and (unused := [name for name in access if name != "mode"]):
        flags = {"user": "gateway-user", "ca": "gateway-ca"}
        flag = flags.get(unused[0], unused[0].replace("_", "-"))
        raise BadInput(f"--{flag}: is for a gateway that runs: give --gateway, too")


def _target(
    way: str, bootstrap: str | None, brokers: int | None, gateway: str | None, access: dict[str, Any]
) -> dict[str, Any]:
    from streamgauge.families.fanout.targets import target_of
    from streamgauge.flags.embedded import embedded_system

    if bootstrap is not None and brokers is not None:
        raise BadInput("--brokers is for the embedded Kafka; leave it out when --bootstrap is given")
    made = target_of(way)
    if bootstrap is not None:
        made["settings"] = {"bootstrap": bootstrap}
    else:
        made["system"] = embedded_system(brokers)
        if way == "gateway" and gateway is None:
            # A gateway that we start gets in only where nobody has to log in.
            made["system"] = {"brokers": made["system"]["brokers"]}
    if way == "gateway":
        own = access if gateway is None else {"gateway": gateway, **access}
        made["settings"] = {**made.get("settings", {}), **own}
    return made


def _ladder(text: str) -> list[Any]:
    try:
        return list(listed_values("clients", text))
    except ValueError as error:
        raise BadInput(f"--clients: {error}") from None


def _frequency(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
