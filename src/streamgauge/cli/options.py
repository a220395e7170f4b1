"""Options that every command that runs something has, and some others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.run_names import complete_run
from streamgauge.flags.options import Debug as Debug  # noqa: PLC0414 - of every command
from streamgauge.flags.options import Out as Out  # noqa: PLC0414
from streamgauge.flags.options import Quiet as Quiet  # noqa: PLC0414
from streamgauge.flags.options import Tags as Tags  # noqa: PLC0414
from streamgauge.flags.options import wish
from streamgauge.launch.live_wish import LiveMode
from streamgauge.launch.shared_secret import SECRET_FILE_VARIABLE

Master = Annotated[
    str | None, wish("Spark master; by default local, with a slot for every agent.", metavar="URL")
]


def _remember_secret(file: Path | None) -> Path | None:
    """Whoever needs the secret looks for it in the environment; it is not handed on."""
    if file is not None:
        os.environ[SECRET_FILE_VARIABLE] = str(file)
    return file


SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret-file",
        metavar="FILE",
        help="Secret shared by leader, followers and commands; or set STREAMGAUGE_SECRET.",
        callback=_remember_secret,
        show_default=False,
    ),
]
Live = Annotated[
    LiveMode,
    typer.Option(help="Live view through Spark; auto: only if it shares no core with what is measured."),
]
LiveBootstrap = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Kafka for the live view's figures; by default the target's own.",
        show_default=False,
    ),
]
PrintWorkload = Annotated[
    bool, typer.Option("--print-workload", help="Print the workload as it was understood, and run nothing.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="RUN",
        help="Continue a run after the last case that it finished; no other flags are needed.",
        show_default=False,
        autocompletion=complete_run,
    ),
]
RUN_WORDS = "A run: its folder, its name or the start of it, a tag, latest, latest~1 …"
Run = Annotated[str, typer.Argument(metavar="RUN", help=f"{RUN_WORDS}.", autocompletion=complete_run)]
