"""Options that commands of several families have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from streamgauge.core.errors import BadInput
from streamgauge.core.units import parse_seconds

RUNS_VARIABLE = "STREAMGAUGE_RUNS"
"""Where run folders go and are looked for, when no --out says so."""


def wish(help: str, **more: Any) -> Any:
    """An option that has no default to show: not given, something else decides."""
    return typer.Option(help=help, show_default=False, **more)


class Acks(StrEnum):
    none = "0"
    leader = "1"
    all = "all"


class EngineChoice(StrEnum):
    python = "python"
    jvm = "jvm"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", "-d", help="Show debug output and tracebacks.")]
Brokers = Annotated[
    int | None, typer.Option(metavar="COUNT", help="Brokers of the embedded Kafka.", show_default="1")
]
Bootstrap = Annotated[
    str | None,
    wish(
        "Kafka to test: one address, or several separated by commas; by default an embedded one is started.",
        metavar="HOST:PORT",
    ),
]
TargetFile = Annotated[Path | None, wish("Target file: driver, address, client settings.", metavar="FILE")]
SecurityFile = Annotated[
    Path | None,
    wish(
        "How to log in to a secured Kafka: a file of Java client properties, as Kafka's own tools take.",
        metavar="FILE",
    ),
]
WarmUpLimit = Annotated[
    str,
    typer.Option(
        metavar="TIME", help="How long --warm-up auto may wait until the load is at rest: 60s, 2min."
    ),
]
Replicas = Annotated[int, typer.Option(metavar="COUNT", help="Replicas of each partition.")]
Slo = Annotated[
    list[str] | None,
    typer.Option(
        "--slo",
        metavar="OBJECTIVE",
        help="What must hold in every case: 'p99<20ms', lost=0, 'rate>=95%', valid …. Repeatable.",
        show_default=False,
    ),
]
Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="DIR", help="Where run folders are: a path or a URL.", envvar=RUNS_VARIABLE
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="A word to find the run by. Repeatable.", show_default=False),
]


def listed(text: str) -> list[str]:
    """Words of a flag with commas between."""
    return [item.strip() for item in text.split(",") if item.strip()]


def size_option(usual: str = "700", several: bool = False) -> Any:
    more = "; several separated by commas" if several else ""
    return typer.Option(metavar="BYTES", help=f"Size of a message: {usual}, 1KiB{more}.")


def count_option(words: str, **more: Any) -> Any:
    return typer.Option(metavar="COUNT", help=words, **more)


def time_option(words: str, **more: Any) -> Any:
    return typer.Option(metavar="TIME", help=words, **more)


def waited(flag: str, given: str) -> float:
    """Seconds of a flag that says how long: 90s, 10min, or plain seconds."""
    try:
        seconds = parse_seconds(given)
    except ValueError as error:
        raise BadInput(f"{flag}: {error}") from None
    if seconds < 0:
        raise BadInput(f"{flag} {given}: must not be below 0")
    return seconds
