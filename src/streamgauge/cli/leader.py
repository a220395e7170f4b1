"""`streamgauge leader`: where followers come together; then any command runs on all of them.

With flags of a test it runs that test as soon as everybody is there, prints its results, and ends.
"""

from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from streamgauge.cli.exit_codes import INTERRUPTED_EXIT_CODE
from streamgauge.cli.options import Debug, Out, Quiet, SecretFile, Tags
from streamgauge.cli.run_flags import asked_of, parameters_of
from streamgauge.core.errors import StreamgaugeError, Unreachable
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.stages import Stage, Stages
from streamgauge.flags.options import time_option, waited, wish
from streamgauge.launch.same_version import OLD, own_version
from streamgauge.launch.shared_secret import make_secret
from streamgauge.launch.stage_line import StageLine
from streamgauge.spec.families import family_of, kind_by_fields

if TYPE_CHECKING:
    from streamgauge.cli.running import Manner
    from streamgauge.flags.asked import Asked
    from streamgauge.launch.standalone import JoinedFollower, Leader


_LOOK_S = 0.5
_ALL = "0.0.0.0"
"""On request only; and nobody gets in without the secret."""


def _lead(
    asked: Callable[[], Any] | None,
    *,
    leader_expect_offers: Annotated[
        int, typer.Option(metavar="COUNT", help="How many followers to wait for.", min=1)
    ] = 1,
    leader_host: Annotated[
        str | None,
        wish("Address to listen on, * for all; by default this host's outward address.", metavar="HOST"),
    ] = None,
    leader_port: Annotated[
        int, typer.Option(metavar="PORT", help="Port to listen on.", min=1, max=65535)
    ] = 7077,
    secret_file: SecretFile = None,
    wait: Annotated[
        str, time_option("How long to wait until all followers have joined: 90s, 10min.")
    ] = "10min",
    out: Out = "runs",
    tag: Tags = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    from streamgauge.cli.running import Manner
    from streamgauge.core.run_tags import checked_tags
    from streamgauge.launch.standalone import Leader, check_free

    wait_s = waited("--wait", wait)
    # What is wrong with the test is said before anybody is waited for.
    test = None if asked is None else asked()
    tags = checked_tags(tag or ())
    listen, host = _addresses(leader_host)
    secret, file = make_secret(secret_file)
    check_free(listen, leader_port)
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        try:
            with Leader(host, leader_port, secret, Path(folder) / "master.log", listen=listen) as leader:
                everywhere = "" if listen == host else " and on all other addresses of this host"
                known = f"in {file}" if file else "as given"
                _say(f"leader at {leader.master}{everywhere}; its secret is {known}")
                _Attendance(leader, leader_expect_offers, keeps=test is None).keep(wait_s)
                if test is not None:
                    how = Manner(master=leader.master, quiet=quiet, debug=debug, tags=tags)
                    raise typer.Exit(_run(test, out, how))
        except KeyboardInterrupt:
            _say("leader ends")
            raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def _run(test: Asked, out: str, how: Manner) -> int:
    from streamgauge.cli.running import run_workload

    for note in test.notes:
        if not how["quiet"]:
            _say(note)
    return run_workload(test.workload, out=out, **how) or test.exit_code


def _addresses(asked: str | None) -> tuple[str, str]:
    """Where to listen, and by which address others find us."""
    from streamgauge.core.outside import own_address

    if asked in ("*", _ALL):
        return _ALL, own_address()
    return (asked or own_address(),) * 2


def _with_test_flags() -> Callable[..., None]:
    """Beside its own flags those of the family that a workload without a kind is of: the usual test."""
    family = family_of(kind_by_fields(()))
    command = family.command(next(iter(family.commands)))
    own = {name: flag for name, flag in parameters_of(_lead).items() if name != "asked"}
    of_test = {name: flag for name, flag in parameters_of(command).items() if name not in own}

    def lead(context: typer.Context, **given: Any) -> None:
        test = {name: given.pop(name) for name in of_test}
        sources = {name: context.get_parameter_source(name) for name in of_test}
        is_asked = any(source is not None and source.name != "DEFAULT" for source in sources.values())
        _lead((lambda: asked_of(command(**test))) if is_asked else None, **given)

    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    flags = {"context": context, **own, **of_test}
    lead.__signature__ = inspect.Signature(list(flags.values()))  # type: ignore[attr-defined]
    lead.__annotations__ = {name: flag.annotation for name, flag in flags.items()}
    lead.examples = (  # type: ignore[attr-defined]
        "streamgauge leader --leader-expect-offers 2",
        "streamgauge leader --leader-expect-offers 2 --producers 8 --consumers 8 --messages 1M",
    )
    lead.aliases = getattr(command, "aliases", {})  # type: ignore[attr-defined]
    return lead


class _Attendance:
    """Says who comes and who is lost."""

    def __init__(self, leader: Leader, expected: int, *, keeps: bool) -> None:
        """`keeps`: it stays with them when all are there."""
        self._leader, self._expected, self._keeps = leader, expected, keeps
        self._here: Sequence[JoinedFollower] = ()
        self._others: list[JoinedFollower] = []
        """Of another version."""
        self._is_complete = False

    def keep(self, wait_s: float) -> None:
        """Until we are interrupted, or all are there; Unreachable when they do not come in time."""
        deadline = time.monotonic() + wait_s
        self._count("waiting")
        stages = Stages(StageLine(Console(stderr=True)))
        stages.enter(Stage.STARTING_SPARK)
        try:
            self._look_after(wait_s, deadline, stages)
        finally:
            stages.end()

    def _look_after(self, wait_s: float, deadline: float, stages: Stages) -> None:
        while self._keeps or not self._is_complete:
            time.sleep(_LOOK_S)
            if self._leader.has_ended:
                if self._leader.lost_its_port:
                    raise self._leader.port_taken()
                raise StreamgaugeError(f"the leader's Spark master ended: {self._leader.why_ended()}")
            if (here := self._leader.followers()) is not None:
                stages.end()
                self._compare(here)
            if not self._is_complete and time.monotonic() > deadline:
                came = ", ".join(follower.name for follower in self._here) or "nobody"
                raise Unreachable(
                    f"only {len(self._here)} of {self._expected} followers came within {wait_s:g} s: {came}"
                )

    def _compare(self, joined: list[JoinedFollower]) -> None:
        here = [follower for follower in joined if follower.version == own_version()]
        for follower in joined:
            if follower not in here and follower not in self._others:
                self._others.append(follower)
                self._count(
                    f"{follower.name} ({follower.host}) has streamgauge {follower.version or OLD} and "
                    f"does not count: this is {own_version()}; end it, and install the same on both"
                )
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
            use = f": use them with --master {self._leader.master}" if self._keeps else ""
            _say(f"all are here, {cores} cores{use}")

    def _count(self, news: str) -> None:
        _say(f"{len(self._here)} of {self._expected} followers: {news}")


def _say(text: str) -> None:
    typer.echo(text, err=True)


leader_command = _with_test_flags()
