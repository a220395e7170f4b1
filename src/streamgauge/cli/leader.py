"""`streamgauge leader`: where followers come together; then any command runs on all of them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE
from streamgauge.cli.options import Debug, SecretFile
from streamgauge.core.errors import StreamgaugeError, Unreachable
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.stages import Stage, Stages
from streamgauge.launch.shared_secret import make_secret
from streamgauge.launch.stage_line import StageLine

if TYPE_CHECKING:
    from streamgauge.launch.standalone import JoinedFollower, Leader


_LOOK_S = 0.5


def leader_command(
    leader_expect_offers: Annotated[int, typer.Option(help="How many followers to wait for.", min=1)] = 1,
    leader_host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on; else this host's own towards the world.", show_default=False
        ),
    ] = None,
    leader_port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 7077,
    secret_file: SecretFile = None,
    wait: Annotated[float, typer.Option(help="Seconds within which all followers must have come.")] = 600.0,
    debug: Debug = False,
) -> None:
    """Lead a cluster: wait for followers, and keep them together until Ctrl-C."""
    from streamgauge.launch.standalone import Leader, check_free, own_address

    host = leader_host or own_address()
    secret, file = make_secret(secret_file)
    check_free(host, leader_port)
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        try:
            with Leader(host, leader_port, secret, Path(folder) / "master.log") as leader:
                _say(f"leader at {leader.master}; its secret is {f'in {file}' if file else 'as given'}")
                _Attendance(leader, leader_expect_offers).keep(wait)
        except KeyboardInterrupt:
            _say("leader ends")
            raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


class _Attendance:
    """Says who comes and who is lost."""

    def __init__(self, leader: Leader, expected: int) -> None:
        self._leader, self._expected = leader, expected
        self._here: Sequence[JoinedFollower] = ()
        self._is_complete = False

    def keep(self, wait_s: float) -> None:
        """Until we are interrupted; Unreachable when followers do not come in time."""
        deadline = time.monotonic() + wait_s
        self._count("waiting")
        stages = Stages(StageLine(Console(stderr=True)))
        stages.enter(Stage.STARTING_SPARK)
        try:
            self._look_after(wait_s, deadline, stages)
        finally:
            stages.end()

    def _look_after(self, wait_s: float, deadline: float, stages: Stages) -> None:
        while True:
            time.sleep(_LOOK_S)
            if self._leader.has_ended:
                raise StreamgaugeError(f"the leader's Spark master ended: {self._leader.why_ended()}")
            if (here := self._leader.followers()) is not None:
                stages.end()
                self._compare(here)
            if not self._is_complete and time.monotonic() > deadline:
                came = ", ".join(follower.name for follower in self._here) or "nobody"
                raise Unreachable(
                    f"only {len(self._here)} of {self._expected} followers came within {wait_s:g} s: {came}"
                )

    def _compare(self, here: list[JoinedFollower]) -> None:
        came = [follower for follower in here if follower not in self._here]
        gone = [follower for follower in self._here if follower not in here]
        self._here = here
        for follower in gone:
            self._count(f"lost {follower.name} ({follower.host})")
        for follower in came:
            self._count(f"{follower.name} ({follower.host}) joined with {follower.cores} cores")
        if came and not self._is_complete and len(here) >= self._expected:
            self._is_complete = True
            cores = sum(follower.cores for follower in here)
            _say(f"all are here, {cores} cores: use them with --master {self._leader.master}")

    def _count(self, news: str) -> None:
        _say(f"{len(self._here)} of {self._expected} followers: {news}")


def _say(text: str) -> None:
    typer.echo(text, err=True)
