"""A family's command says what to run; how it is run is said by the same flags everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

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
)
from streamgauge.flags.asked import Asked
from streamgauge.launch.conduct import conduct_of, has_live_figures
from streamgauge.launch.live_choice import LiveMode, LiveWish
from streamgauge.spec.workload import Workload

_LIVE = ("live", "live_bootstrap")


def with_run_flags(kind: str, command: Callable[..., Any]) -> Callable[..., None]:
    """A command that makes a workload runs it, or prints it; any other is as it is."""
    makes = get_type_hints(command).get("return")
    if makes not in (Workload, Asked) and not (isinstance(makes, type) and issubclass(makes, Workload)):
        return command
    left_out = set(() if has_live_figures(kind) else _LIVE)
    if conduct_of(kind).no_resuming:
        left_out.add("resume")

    def run(**given: Any) -> None:
        own = {name: given.pop(name) for name in _parameters(command)}
        _run(lambda: command(**own), **given)

    shared = {name: flag for name, flag in _parameters(_run).items() if name not in (*left_out, "make")}
    flags = {**_parameters(command), **shared}
    run.__signature__ = inspect.Signature(list(flags.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: flag.annotation for name, flag in flags.items()}
    run.__doc__ = command.__doc__
    return run


def _run(
    make: Callable[[], Workload | Asked],
    *,
    resume: Resume = None,
    out: Out = "runs",
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

    how = Manner(master=master, live=LiveWish(live, live_bootstrap), quiet=quiet, debug=debug)
    if resume is not None:
        raise typer.Exit(resume_run(resume, **how))
    made = make()
    asked = made if isinstance(made, Asked) else Asked(made)
    for note in asked.notes:
        if not (quiet or print_workload):
            typer.echo(note, err=True)
    code = run_or_print(asked.workload, only_print=print_workload, out=out, **how)
    raise typer.Exit(code or (0 if print_workload else asked.exit_code))


def _parameters(command: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """With annotations as objects, whatever module they were written in."""
    hints = get_type_hints(command, include_extras=True)
    return {
        name: flag.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, flag in inspect.signature(command).parameters.items()
    }
