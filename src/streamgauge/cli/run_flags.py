"""A family's command says what to run; how it is run is said by the same flags everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from streamgauge.cli.options import (
    Debug,
    Live,
    LiveBootstrap,
    Master,
    Out,
    PrintWorkload,
    Quiet,
    Resume,
    SecretFile,
    Tags,
)
from streamgauge.flags.options import Slo
from streamgauge.launch.live_wish import LiveMode, LiveWish
from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.flags.asked import Asked

_LIVE = ("live", "live_bootstrap")


def with_run_flags(family: Family[Any], command: Callable[..., Any]) -> Callable[..., None]:
    """A command that makes a workload runs it, or prints it; any other is as it is."""
    if inspect.signature(command).return_annotation in (None, "None", inspect.Signature.empty):
        return command
    left_out = set(() if family.has_live_figures else _LIVE)
    if family.no_resuming:
        left_out.add("resume")
    return that_runs(command, left_out)


def that_runs(
    command: Callable[..., Any], left_out: Collection[str] = (), refuse: Callable[..., None] | None = None
) -> Callable[..., None]:
    """Runs, or prints, the workload that a command makes; `refuse` sees all that was given before it does."""

    def run(**given: Any) -> None:
        if refuse is not None:
            refuse(**given)
        own = {name: given.pop(name) for name in own_flags}
        _run(lambda: command(**own), **given)

    own_flags = parameters_of(command)
    taken = {"make", *left_out, *own_flags}
    shared = {name: flag for name, flag in parameters_of(_run).items() if name not in taken}
    flags = {**own_flags, **shared}
    run.__signature__ = inspect.Signature(list(flags.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: flag.annotation for name, flag in flags.items()}
    run.__doc__ = command.__doc__
    run.examples = getattr(command, "examples", ())  # type: ignore[attr-defined]
    run.aliases = getattr(command, "aliases", {})  # type: ignore[attr-defined]
    return run


def _run(
    make: Callable[[], Any],
    *,
    slo: Slo = None,
    resume: Resume = None,
    out: Out = "runs",
    tag: Tags = None,
    master: Master = None,
    secret_file: SecretFile = None,
    live: Live = LiveMode.auto,
    live_bootstrap: LiveBootstrap = None,
    print_workload: PrintWorkload = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    # Here and not at the top: it loads Spark and all of the analysis, which telling the flags does not need.
    from streamgauge.cli.running import Manner, resume_run, run_or_print
    from streamgauge.cli.slo import not_with_resume, with_objectives
    from streamgauge.core.run_tags import checked_tags
    from streamgauge.spec.families import family_of

    tags = checked_tags(tag or ())
    how = Manner(master=master, live=LiveWish(live, live_bootstrap), quiet=quiet, debug=debug, tags=tags)
    if resume is not None:
        not_with_resume(slo)
        raise typer.Exit(resume_run(resume, out=out, **how))
    asked = asked_of(make())
    workload = with_objectives(asked.workload, slo)
    for note in (*asked.notes, *family_of(workload.kind).foretold(workload)):
        if not (quiet or print_workload):
            typer.echo(note, err=True)
    code = run_or_print(workload, only_print=print_workload, out=out, **how)
    raise typer.Exit(code or (0 if print_workload else asked.exit_code))


def asked_of(made: Any) -> Asked:
    """What a family's command gave: a workload alone says it all, mostly."""
    from streamgauge.flags.asked import Asked

    return made if isinstance(made, Asked) else Asked(made)


def parameters_of(command: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """With annotations as objects, whatever module they were written in; what is returned is not loaded."""
    flags = inspect.signature(command).parameters
    written = SimpleNamespace(__annotations__={name: flag.annotation for name, flag in flags.items()})
    hints = get_type_hints(written, command.__globals__, include_extras=True)
    return {
        name: flag.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, flag in flags.items()
    }
