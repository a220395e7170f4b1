"""`streamgauge init`: a workload with comments, from flags or from answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.workload_commands import made_command, workload_families, workload_of
from streamgauge.core.errors import BadInput
from streamgauge.flags.groups import VOCABULARY, told_by
from streamgauge.flags.options import Debug

if TYPE_CHECKING:
    from streamgauge.spec.family import Family

_ASKED_TOO = ("slo",)


@told_by(
    "streamgauge init",
    "streamgauge init KIND --rate 10k/s --duration 60s --size 1KiB --file load.yaml",
    "streamgauge init KIND --file -",
)
def init_command(
    context: typer.Context,
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND [FLAGS…]]",
            help="A command that measures, with its own flags (streamgauge KIND -h). If left out "
            "on a terminal, you are asked.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-o", metavar="FILE", help="Where to write; - is the console.", show_default="KIND.yaml"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    debug: Debug = False,
) -> None:
    """Write a commented workload for you to change and run with `streamgauge run FILE`."""
    from streamgauge.cli.commented_yaml import commented
    from streamgauge.spec.loading import dump_yaml

    families = workload_families()
    is_asking = _is_terminal() and not context.args
    chosen = _chosen(kind, families, is_asking=is_asking)
    command = families[chosen].command(chosen)
    given = _answers(command) if is_asking else list(context.args)
    workload = workload_of(chosen, command, given)
    target = file or Path(f"{chosen}.yaml")
    said = " ".join(["streamgauge init", chosen, *given])
    heading = f"Made by: {said}\nRun it:  streamgauge run {target}"
    text = commented(dump_yaml(workload), heading, families[chosen].field_words)
    if str(target) == "-":
        typer.echo(text, nl=False)
        return
    if target.exists() and not force:
        raise BadInput(f"{target}: is there already; name another with --file, or write over it with --force")
    target.write_text(text, "utf-8")
    typer.echo(f"{target}: change what you like, then: streamgauge run {target}")


init_command.hands_on = True  # type: ignore[attr-defined]


def _is_terminal() -> bool:
    """Both ways: questions that nobody sees are not asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _chosen(kind: str | None, families: dict[str, Family[Any]], *, is_asking: bool) -> str:
    if kind is None and is_asking:
        for name, family in families.items():
            typer.echo(f"  {name:<12} {family.commands[name]}", err=True)
        usual = next((name for name, family in families.items() if family.is_default), None)
        kind = typer.prompt("What do you want to measure?", default=usual, err=True)
    if kind not in families:
        names = ", ".join(families)
        raise BadInput(f"init: {'say what to measure' if kind is None else f'{kind} is not known'}: {names}")
    return kind


def _answers(command: Callable[..., Any]) -> list[str]:
    """What the usual questions are answered with, as flags; what is left as it is needs none."""
    given: list[str] = []
    for option in _options(command):
        is_usual = option.name in VOCABULARY or option.name in _ASKED_TOO or option.required
        if not is_usual or option.is_flag:
            continue
        usual = option.default if option.show_default is not False else None
        shown = "" if usual is None else str(getattr(usual, "value", usual))
        question = f"--{option.name.replace('_', '-')}: {option.help}"
        # What is written may go to the console's own stream: questions never do.
        answer = str(typer.prompt(question, default=shown, err=True)).strip()
        if answer and answer != shown:
            given += [max(option.opts, key=len), answer]
    return given


def _options(command: Callable[..., Any]) -> list[Any]:
    return [param for param in made_command(command, []).params if param.param_type_name == "option"]
