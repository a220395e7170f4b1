"""Families' commands that make a workload, and the workload that one makes of flags."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from streamgauge.spec.family import Family
    from streamgauge.spec.workload import Workload


def workload_families() -> dict[str, Family[Any]]:
    """By the name of the command. One that makes a run of what is there already is none of these."""
    from streamgauge.spec.families import all_families

    return {
        name: family
        for family in all_families()
        for name in family.commands
        if inspect.signature(family.command(name)).return_annotation not in (None, "None")
    }


def workload_of(
    name: str, command: Callable[..., Any], given: Sequence[str], asked_by: str = "streamgauge init"
) -> Workload:
    """As the command itself makes it of the same flags."""
    made: list[Any] = []
    made_command(command, made).main(list(given), prog_name=f"{asked_by} {name}", standalone_mode=False)
    [found] = made
    workload: Workload = getattr(found, "workload", found)
    return workload


def first_flags(command: Callable[..., Any]) -> tuple[str, ...]:
    """That a first workload of it needs; those of most need none."""
    begin_with: Callable[[], Iterable[str]] = getattr(command, "begin_with", tuple)
    return tuple(begin_with())


def made_command(command: Callable[..., Any], results: list[Any]) -> Any:
    """What parses its flags; what it returns is put into the results."""
    from streamgauge.cli.help_pages import HelpfulCommand
    from streamgauge.cli.run_flags import parameters_of

    def keep(**flags: Any) -> None:
        results.append(command(**flags))

    parameters = parameters_of(command)
    keep.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    keep.__annotations__ = {name: flag.annotation for name, flag in parameters.items()}
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(cls=HelpfulCommand)(keep)
    made: Any = typer.main.get_command(app)
    made.aliases = getattr(command, "aliases", {})
    return made
