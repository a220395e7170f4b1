"""`streamgauge serve`: runs in a browser, until it is told to stop."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import Debug, Out, Quiet
from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.flags.groups import told_by

if TYPE_CHECKING:
    from streamgauge.serve.start_pages import Starter
    from streamgauge.spec.family import Family

_PORT = 8723


@told_by(
    "streamgauge serve",
    "streamgauge serve --out ~/bench/runs --port 0 --read-only",
    "streamgauge serve --host 0.0.0.0        # for others, with a token that is printed",
)
def serve_command(
    out: Out = "runs",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; any address but loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="Port; 0: any free one.", min=0, max=65535)
    ] = _PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the token in its first line; or set STREAMGAUGE_SERVE_TOKEN. By "
            "default one is made if needed.",
            show_default=False,
        ),
    ] = None,
    runs_at_once: Annotated[
        int,
        typer.Option(
            metavar="COUNT", help="How many runs may be started from here at the same time.", min=1, max=64
        ),
    ] = 1,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only show runs: none can be started, stopped or tagged.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Runs in a browser: list, reports, differences, the live view; start a run and stop it."""
    from streamgauge.core.guardian import temporary_folder
    from streamgauge.serve.serving import ServeSettings, serve, token_for

    token = token_for(host, _given_token(token_file))
    settings = ServeSettings(
        runs=out if "://" in out else str(Path(out).absolute()),
        folder=temporary_folder() / "serve",
        host=host,
        port=port,
        token=token,
        runs_at_once=runs_at_once,
        read_only=read_only,
        starters=starters(),
    )

    def ready(address: str) -> None:
        typer.echo(address)
        if not quiet:
            if token is not None:
                typer.echo("others can log in with this token; the connection is not encrypted", err=True)
            typer.echo(f"serving {settings.runs}; end it with Ctrl-C", err=True)

    serve(settings, ready)


def _given_token(file: Path | None) -> str | None:
    from streamgauge.serve.serving import TOKEN_VARIABLE

    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return file.read_text("utf-8").split("\n", 1)[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--token-file {file}: cannot be read: {error}") from None


def starters() -> dict[str, Starter]:
    """What each family's command runs when nothing else is said, as a workload to begin with."""
    from streamgauge.cli.workload_commands import workload_families
    from streamgauge.serve.start_pages import Starter

    return {
        name: Starter(f"{name}: {family.commands[name]}", partial(_begun, family, name))
        for name, family in workload_families().items()
    }


def _begun(family: Family[Any], name: str) -> str:
    from streamgauge.cli.workload_commands import first_flags, workload_of
    from streamgauge.spec.loading import dump_yaml

    command = family.command(name)
    try:
        return dump_yaml(workload_of(name, command, first_flags(command), "streamgauge"))
    except StreamgaugeError as error:
        return f"# {error}\nkind: {family.kind}\n"
