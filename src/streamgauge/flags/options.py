"""Options that commands of several families have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Acks(StrEnum):
    none = "0"
    leader = "1"
    all = "all"


class EngineChoice(StrEnum):
    python = "python"
    jvm = "jvm"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", "-d", help="Show debug output and tracebacks.")]
Brokers = Annotated[int | None, typer.Option(help="Brokers of the embedded Kafka.", show_default="1")]
Bootstrap = Annotated[
    str | None,
    typer.Option(help="Kafka to test, host:port[,host:port …]; else an embedded one.", show_default=False),
]
TargetFile = Annotated[
    Path | None, typer.Option(help="Target file: driver, address, client settings.", show_default=False)
]
Slo = Annotated[
    list[str] | None,
    typer.Option(
        "--slo",
        metavar="OBJECTIVE",
        help="What is to hold in every case: 'p99<20ms', lost=0, 'rate>=95%', valid …; again for more.",
        show_default=False,
    ),
]


def listed(text: str) -> list[str]:
    """Words of a flag with commas between."""
    return [item.strip() for item in text.split(",") if item.strip()]
