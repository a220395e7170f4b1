"""`streamgauge follower`: gives this host's cores to a leader."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE
from streamgauge.cli.options import Debug, SecretFile
from streamgauge.core.errors import BadInput, StreamgaugeError, Unreachable
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.units import format_bytes
from streamgauge.flags.groups import told_by
from streamgauge.flags.options import time_option, waited, wish
from streamgauge.launch.shared_secret import find_secret, secret_to_come

if TYPE_CHECKING:
    from streamgauge.launch.standalone import Follower


_LOOK_S = 0.3
_CONNECT_DEADLINE_S = 5.0
_JOIN_DEADLINE_S = 45.0
_LEAST_FREE_BYTES = 256 << 20
"""The package, its jars, and what Spark writes while it runs them."""


@told_by(
    "streamgauge follower --leader-host 10.0.0.1 --secret-file cluster-secret",
    "streamgauge follower --leader-host 10.0.0.1 --cores 4 --name box-2",
)
def follower_command(
    leader_host: Annotated[str, typer.Option(metavar="HOST", help="Where the leader is.")],
    leader_port: Annotated[int, typer.Option(metavar="PORT", help="Its port.", min=1, max=65535)] = 7077,
    cores: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help="How many agents it can run; by default one per core.",
            min=1,
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None, wish("Address of this host; by default the one that faces the leader.", metavar="HOST")
    ] = None,
    name: Annotated[
        str | None, wish("Name in results; by default the host's name, or --host.", metavar="NAME")
    ] = None,
    wait: Annotated[str, time_option("How long to wait for the leader: 90s, 10min.")] = "10min",
    secret_file: SecretFile = None,
    debug: Debug = False,
) -> None:
    """Follow a leader: take agents of whatever runs there, until Ctrl-C."""
    from streamgauge.core.outside import own_address
    from streamgauge.launch.standalone import Follower

    wait_s = waited("--wait", wait)
    deadline = time.monotonic() + wait_s
    try:
        _wait_for_secret(secret_file, deadline)
        secret = find_secret(secret_file)
        _wait_for_leader(leader_host, leader_port, deadline, wait_s)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None
    with tempfile.TemporaryDirectory(dir=temporary_folder(), ignore_cleanup_errors=True) as folder:
        follower = Follower(
            (leader_host, leader_port),
            name=name or host or socket.gethostname(),
            host=host or own_address(leader_host, leader_port),
            cores=cores or os.cpu_count() or 1,
            secret=secret,
            folder=Path(folder),
        )
        _check_space(Path(folder))
        try:
            with follower:
                _follow(follower, leader_host, leader_port)
        except KeyboardInterrupt:
            typer.echo("follower ends", err=True)
            raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def _check_space(folder: Path) -> None:
    """What a run brings along is unpacked there: better said now than when it does not come."""
    if (free_bytes := shutil.disk_usage(folder).free) < _LEAST_FREE_BYTES:
        raise BadInput(
            f"{folder.parent}: {format_bytes(free_bytes)} are free on its disk, a follower needs "
            f"{format_bytes(_LEAST_FREE_BYTES)}; free some, or name another place by TMPDIR"
        )


def _wait_for_secret(file: Path | None, deadline: float) -> None:
    """A leader on this host, or on one that shares the file, makes it when it starts. Whoever reads it
    says what is wrong when it does not come."""
    is_said = False
    while (missing := secret_to_come(file)) is not None and time.monotonic() < deadline:
        if not is_said:
            is_said = True
            typer.echo(f"waiting for the leader's secret in {missing}; or copy it there", err=True)
        time.sleep(_LOOK_S)


def _wait_for_leader(host: str, port: int, deadline: float, wait_s: float) -> None:
    """Whichever of us was started first; Unreachable when nobody is there in time."""
    from streamgauge.launch.standalone import why_not_listening

    is_said = False
    while (why := why_not_listening(host, port, _CONNECT_DEADLINE_S)) is not None:
        if time.monotonic() > deadline:
            raise Unreachable(
                f"{host}:{port}: no leader answered there within {wait_s:g} s: {why}; is it up, and is "
                "this its address?"
            )
        if not is_said:
            is_said = True
            typer.echo(f"waiting for the leader at {host}:{port}", err=True)
        time.sleep(_LOOK_S)


def _follow(follower: Follower, host: str, port: int) -> None:
    """Until we are interrupted, or the leader has ended."""
    from streamgauge.launch.standalone import why_not_listening

    leader = f"{host}:{port}"
    deadline = time.monotonic() + _JOIN_DEADLINE_S
    has_joined = False
    while not follower.has_ended:
        time.sleep(_LOOK_S)
        if not has_joined and follower.has_joined:
            has_joined = True
            typer.echo(f"joined the leader at {leader}", err=True)
        if follower.is_out_of_space:
            raise StreamgaugeError(
                f"{follower.folder}: the disk is full: Spark could not start a run's agents there; "
                "free some, or name another place by TMPDIR, and start the follower again"
            )
        # Spark's worker would look for it again for minutes.
        if has_joined and follower.misses_leader and why_not_listening(host, port, _CONNECT_DEADLINE_S):
            typer.echo(f"the leader at {leader} has ended; so does this follower", err=True)
            return
        if not has_joined and (follower.was_refused or time.monotonic() > deadline):
            raise BadInput(
                f"{leader}: the leader did not let us join; has it the same secret "
                "(--secret-file, STREAMGAUGE_SECRET), and the same streamgauge?"
            )
    raise StreamgaugeError(f"{leader}: the leader is gone: {follower.why_ended()}")
