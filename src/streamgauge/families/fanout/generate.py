"""`streamgauge generate`: messages of the fan-out scenarios into a topic, by the clock."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.core.clock import NS_PER_S, now_ns, read_clocks, sharpen_sleep
from streamgauge.core.errors import BadInput
from streamgauge.core.units import counted, parse_bytes, parse_count, parse_rate, parse_seconds
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import Debug, Quiet, SecurityFile, count_option, wish

if TYPE_CHECKING:
    from streamgauge.drivers.swarm import MessageKind
    from streamgauge.families.fanout.generator import Generator


_TELL_EVERY_S = 10.0
_FLUSH_S = 15.0
_ASK_DEADLINE_S = 15.0


class Mode(StrEnum):
    base = "base"
    keyed = "keyed"
    json = "json"
    complex = "complex"
    verycomplex = "verycomplex"


@dataclass(frozen=True)
class _Wanted:
    producers: int
    rate_per_s: float
    size_bytes: int
    kind: MessageKind

    @classmethod
    def of_flags(
        cls, producers: int | None, rate: str | None, size: str | None, kind: Mode | None
    ) -> _Wanted:
        """By default, what scenario 1 sends."""
        rate_per_s = parse_rate(rate or "4/s")
        if rate_per_s <= 0:
            raise ValueError(f"--rate {rate}: must be above 0")
        return cls(producers or 2, rate_per_s, parse_bytes(size or "1KiB"), (kind or Mode.base).value)

    @classmethod
    def of_older(cls, words: Sequence[str]) -> _Wanted:
        if len(words) != 4:
            raise ValueError(
                f"{' '.join(words)}: not PRODUCERS PAUSE_MS SIZE KIND; "
                "better: --producers, --rate, --size and --kind"
            )
        producers, pause_ms, kind = parse_count(words[0]), float(words[1]), words[3]
        if producers < 1:
            raise ValueError(f"PRODUCERS {producers}: must be at least 1")
        if pause_ms <= 0:
            raise ValueError(f"PAUSE_MS {pause_ms:g}: must be above 0")
        if kind not in list(Mode):
            raise ValueError(f"{kind}: no kind of messages; allowed: {', '.join(Mode)}")
        return cls(producers, producers * 1000 / pause_ms, parse_bytes(words[2]), Mode(kind).value)


@told_by(
    "streamgauge generate localhost:9092 LTest --producers 10 --rate 100/s --kind complex",
    "streamgauge generate localhost:9092 LTest --create-topic --duration 60s",
)
def generate(
    bootstrap: Annotated[str, typer.Argument(metavar="BOOTSTRAP", help="Kafka: host:port[,host:port …].")],
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Where messages go; it must exist, or see --create-topic.")
    ],
    older: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PRODUCERS PAUSE_MS SIZE KIND]",
            help="Older form of the flags --producers, --rate, --size and --kind: `10 100 1KiB complex`. "
            "PAUSE_MS is the pause between two messages of a producer.",
            show_default=False,
        ),
    ] = None,
    producers: Annotated[int | None, count_option("How many producers.", min=1, show_default="2")] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Messages per second, all producers together: 100, 10k/s.",
            show_default="4/s",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES", help="Size of the random text in a message: 1024, 1KiB.", show_default="1KiB"
        ),
    ] = None,
    kind: Annotated[Mode | None, typer.Option(help="Kind of messages.", show_default="base")] = None,
    duration: Annotated[str | None, wish("How long: 60s; by default until Ctrl-C.", metavar="TIME")] = None,
    linger_ms: Annotated[
        float, typer.Option(metavar="MS", help="How long a producer waits for more messages to send, in ms.")
    ] = 0.0,
    create_topic: Annotated[
        bool,
        typer.Option(
            "--create-topic", help="Create the topic if it does not exist; it is not deleted afterwards."
        ),
    ] = False,
    partitions: Annotated[
        int, typer.Option(metavar="COUNT", help="Partitions of a topic that is created.", min=1)
    ] = 1,
    security_file: SecurityFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Send messages of a fan-out scenario, open loop; without flags, those of scenario 1."""
    from streamgauge.families.fanout.generator import Generator
    from streamgauge.families.fanout.scenario_messages import ScenarioMessages

    flags = {"--producers": producers, "--rate": rate, "--size": size, "--kind": kind}
    if older and (given := [name for name, value in flags.items() if value is not None]):
        raise BadInput(f"{given[0]}: is also given without a name, as {' '.join(older)}; give it once")
    try:
        wanted = _Wanted.of_older(older) if older else _Wanted.of_flags(producers, rate, size, kind)
        seconds = None if duration is None else parse_seconds(duration)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if wanted.size_bytes < 4 or (seconds is not None and seconds <= 0):
        raise BadInput("--size: must be at least 4 bytes, --duration above 0")
    connection = _connection(bootstrap, security_file)
    if create_topic and _make_topic(connection, topic, partitions) and not quiet:
        typer.echo(f"made {topic}: {counted(partitions, 'partition')}", err=True)
    settings = {**connection, "linger.ms": linger_ms}
    messages = ScenarioMessages(wanted.kind, wanted.size_bytes, secrets.randbits(63))
    reading = read_clocks()
    clients = [settings] * wanted.producers
    generator = Generator(
        messages, clients, topic, wanted.rate_per_s, reading.wall_offset_ns, keep_rows=False
    )
    try:
        _send(generator, wanted.rate_per_s, seconds, quiet)
    finally:
        generator.close()


def _connection(bootstrap: str, security_file: Path | None) -> dict[str, Any]:
    from streamgauge.drivers.kafka.security import read_security_file

    locks = {} if security_file is None else read_security_file(security_file)[0].words("librdkafka")
    return {**locks, "bootstrap.servers": bootstrap}


def _make_topic(connection: dict[str, Any], topic: str, partitions: int) -> bool:
    """False: it was there already, and stays as it is."""
    from streamgauge.drivers.kafka.topics import KafkaTopics
    from streamgauge.spec.loading import parse
    from streamgauge.spec.topics import Topics

    wanted = parse(Topics, {"name": topic, "partitions": partitions}, "generate --create-topic")
    topics = KafkaTopics(connection)
    if topic in topics.found(_ASK_DEADLINE_S):
        return False
    topics.prepare(wanted, (topic,))
    return True


def _send(generator: Generator, rate: float, seconds: float | None, quiet: bool) -> None:
    sharpen_sleep()
    start_ns = now_ns() + NS_PER_S // 10
    next_word = time.monotonic() + _TELL_EVERY_S

    def go_on() -> bool:
        nonlocal next_word
        if not quiet and time.monotonic() >= next_word:
            next_word += _TELL_EVERY_S
            typer.echo(_words(generator, rate), err=True)
        return True

    count = None if seconds is None else max(1, round(seconds * rate))
    with suppress(KeyboardInterrupt):
        generator.run(start_ns, lambda: count, go_on)
    left = generator.flush(_FLUSH_S)
    if not quiet:
        typer.echo(_words(generator, rate))
    if left or generator.failed:
        why = generator.error or "no acknowledgement came"
        typer.echo(f"{left + generator.failed} messages were not delivered: {why}", err=True)
        raise typer.Exit(1)


def _words(generator: Generator, rate: float) -> str:
    """The rate by when messages were really handed over, not by when they should have been."""
    if generator.sent < 2:
        return f"{generator.sent} messages sent"
    seen = (generator.sent - 1) * NS_PER_S / (generator.last_sent_ns - generator.first_sent_ns)
    return (
        f"{generator.sent} messages sent, {generator.delivered} delivered, {seen:.3f}/s of {rate:.3f}/s "
        f"({100 * (seen / rate - 1):+.2f}%), at most {generator.most_late_ns / 1e6:.1f} ms late"
    )
