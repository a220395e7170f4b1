"""`streamgauge consume`: clients that only read, by hand, and print how old messages are when they come."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.core.clock import NS_PER_MS, read_clocks
from streamgauge.core.errors import BadInput
from streamgauge.core.latency_block import latency_block
from streamgauge.core.units import parse_seconds
from streamgauge.families.fanout import gateway_flags
from streamgauge.families.fanout.gateway_flags import access_settings
from streamgauge.families.fanout.generate import Mode
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Debug, Quiet, SecurityFile, listed

if TYPE_CHECKING:
    from streamgauge.drivers.swarm import MessageKind, Swarm, SwarmOptions
    from streamgauge.families.fanout.names import ScenarioName
    from streamgauge.spec.target import Target

_CONNECT_DEADLINE_S = 110.0
_ASK_DEADLINE_S = 15.0
_SERVE_S = 0.1
_MEASURED = 200
_SCENARIOS: dict[MessageKind, ScenarioName] = {
    "base": "1",
    "keyed": "2",
    "json": "3",
    "complex": "3",
    "verycomplex": "3",
}
"""Whose fields and items a gateway has for messages of a kind, unless told otherwise."""


class By(StrEnum):
    groups = "groups"
    standalone = "standalone"


@told_by(
    "streamgauge consume localhost:9092 numbers 100 base",
    "streamgauge consume http://localhost:8080 LTest 1000 complex --item ltest --fields key,value",
)
def consume(
    where: Annotated[
        str,
        typer.Argument(metavar="WHERE", help="Kafka: host:port[,…]; or a gateway: http(s)://host:port."),
    ],
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="What to read; it must exist.")],
    clients: Annotated[
        int, typer.Argument(metavar="CLIENTS", help="How many clients, in this process.", min=1)
    ],
    kind: Annotated[
        Mode,
        typer.Argument(
            metavar="KIND",
            help="Kind of messages, as for `generate`: base, keyed, json, complex or verycomplex.",
        ),
    ],
    by: Annotated[
        By, typer.Option(help="Kafka's clients: each in a group of its own, or with assigned partitions.")
    ] = By.groups,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long: 60s; by default until Ctrl-C.", show_default=False),
    ] = None,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="How often statistics are printed: 60s.")
    ] = "60s",
    measured: Annotated[
        int,
        typer.Option(
            metavar="COUNT", help="How many clients look into every update; the others only count.", min=1
        ),
    ] = _MEASURED,
    parse_json: Annotated[
        bool, typer.Option("--parse-json/--no-parse-json", help="Whether Kafka's clients parse JSON values.")
    ] = True,
    item: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The gateway's item: its name, or the start of it.",
            show_default="ltest, jsontest",
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Fields that a gateway's clients subscribe to; by default all.",
            show_default=False,
        ),
    ] = None,
    ramp_up: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="New clients per second.", show_default="2000 for a gateway, 200 for Kafka"
        ),
    ] = None,
    adapter_set: gateway_flags.AdapterSet = None,
    data_adapter: gateway_flags.DataAdapter = None,
    mode: gateway_flags.Mode = None,
    gateway_user: gateway_flags.GatewayUser = None,
    gateway_ca: gateway_flags.GatewayCa = None,
    security_file: SecurityFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read with many clients, and print every minute how old messages of `generate` are when they come."""
    seconds = None if duration is None else _seconds("--duration", duration)
    every_s = _seconds("--every", every)
    is_gateway = "://" in where
    access = access_settings(adapter_set, data_adapter, mode, gateway_user, gateway_ca)
    if security_file is not None and is_gateway:
        raise BadInput(
            f"{where}: is a gateway's; --security-file is Kafka's: use --gateway-user, --gateway-ca"
        )
    if access and not is_gateway:
        raise BadInput(
            f"{where}: is Kafka's; --adapter-set, --data-adapter, --mode and --gateway-… are a gateway's"
        )
    options = _options(kind.value, clients, min(measured, clients), topic, parse_json)
    options |= {
        "ramp_up_per_s": ramp_up or (2000.0 if is_gateway else 200.0),
        "group": f"streamgauge-consume-{secrets.token_hex(3)}" if by is By.groups else None,
    }
    if item:
        options["item"] = item
    if fields:
        options["fields"] = tuple(listed(fields))
    heard = Heard()
    kafka: dict[str, object] = {"bootstrap": where}
    if security_file is not None:
        kafka["security_file"] = str(security_file)
    swarm = _of_gateway(where, access, options, heard) if is_gateway else _of_kafka(kafka, options, heard)
    try:
        with suppress(KeyboardInterrupt):
            swarm.connect(_CONNECT_DEADLINE_S, lambda: True)
            if not quiet:
                typer.echo(f"{clients} clients read {topic} at {where}", err=True)
            _listen(swarm, heard, seconds, every_s, quiet)
        for line in heard.block():
            typer.echo(line)
        received = sum(swarm.counts)
        typer.echo(f"{received} updates to {clients} clients")
        if swarm.gone:
            typer.echo(f"{len(swarm.gone)} clients were cut off: {next(iter(swarm.gone.values()))}", err=True)
            raise typer.Exit(1)
    finally:
        swarm.close()


class Heard:
    """Latencies by whole ms, from the time inside a message; what has none is counted apart."""

    def __init__(self) -> None:
        from streamgauge.families.fanout.stamps import StampReader

        self._reader, self._wall_offset_ns = StampReader(), read_clocks().wall_offset_ns
        self.counts: Counter[int] = Counter()
        self.unstamped = 0
        self._begun_s: float | None = None

    def __call__(self, place: int, stamp: str, received_ns: int) -> None:
        if self._begun_s is None:
            self._begun_s = time.monotonic()
        try:
            latency_ns = received_ns + self._wall_offset_ns - self._reader.read(stamp)
        except ValueError:
            self.unstamped += 1
            return
        self.counts[latency_ns // NS_PER_MS] += 1

    def block(self) -> list[str]:
        took_s = 0.0 if self._begun_s is None else time.monotonic() - self._begun_s
        said = [f"{self.unstamped} updates had no time in them"] if self.unstamped else []
        return [*latency_block(self.counts, took_s), *said]


def _listen(swarm: Swarm, heard: Heard, seconds: float | None, every_s: float, quiet: bool) -> None:
    begun_s = time.monotonic()
    next_block_s = begun_s + every_s
    while seconds is None or time.monotonic() < begun_s + seconds:
        swarm.serve(_SERVE_S)
        if time.monotonic() >= next_block_s and not quiet:
            next_block_s += every_s
            for line in heard.block():
                typer.echo(line)


def _options(
    kind: MessageKind, clients: int, measured: int, topic: str, parse_json: bool
) -> dict[str, object]:
    from streamgauge.families.fanout.scenario_messages import keys_of
    from streamgauge.families.fanout.section import SCENARIOS

    names, scenario = keys_of(kind), SCENARIOS[_SCENARIOS[kind]]
    return {
        "first": 0,
        "keys": tuple(place % max(1, len(names)) for place in range(clients)),
        "key_names": names,
        "measured": frozenset(range(measured)),
        "topic": topic,
        "start": {},
        "kind": kind,
        "parse_json": parse_json,
        "item": scenario.item,
        "fields": tuple(scenario.fields),
        "max_frequency": "unfiltered",
    }


def _of_gateway(where: str, access: dict[str, object], options: dict[str, object], heard: Heard) -> Swarm:
    from streamgauge.drivers.push.access import AccessSettings, access_to
    from streamgauge.drivers.push.opening import open_swarm
    from streamgauge.spec.loading import parse

    settings = _target("gateway", {"gateway": where, **access}).settings
    found = access_to(parse(AccessSettings, settings, "consume"), {})
    assert found is not None
    return open_swarm(_made(options), heard, found)


def _target(way: str, settings: dict[str, object]) -> Target:
    """With what its secrets are."""
    from streamgauge.families.fanout.targets import target_of
    from streamgauge.spec.secrets import environment_of, fill_in
    from streamgauge.spec.target import Target

    target = Target.model_validate({**target_of(way), "settings": settings})
    return fill_in(target, environment_of(target))


def _of_kafka(settings: dict[str, object], options: dict[str, object], heard: Heard) -> Swarm:
    """From where the topic ends now: what was sent before has waited for nobody."""
    from streamgauge.drivers.kafka.driver import KafkaDriver
    from streamgauge.drivers.registry import open_driver
    from streamgauge.drivers.swarm import SwarmDriver

    driver = open_driver(_target("kafka-groups", settings), {})
    assert isinstance(driver, KafkaDriver)
    assert isinstance(driver, SwarmDriver)
    topic = str(options["topic"])
    found = driver.found_topics(_ASK_DEADLINE_S).get(topic)
    if found is None:
        where = settings["bootstrap"]
        raise BadInput(f"{where}: there is no topic {topic}; make it: streamgauge topic create {topic}")
    start = driver.end_offsets((topic,), found.partitions)
    return driver.swarm(_made({**options, "start": start}), heard)


def _made(options: dict[str, object]) -> SwarmOptions:
    from streamgauge.drivers.swarm import SwarmOptions

    return SwarmOptions(**options)  # type: ignore[arg-type]


def _seconds(flag: str, text: str) -> float:
    try:
        found = parse_seconds(text)
    except ValueError as error:
        raise BadInput(f"{flag}: {error}") from None
    if found <= 0:
        raise BadInput(f"{flag} {text}: must be above 0")
    return found
