"""The help of a command: flags in groups, with units and examples, that can be read at 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from streamgauge.flags.groups import ORDER, TEST, group_of

_WIDTH = 80
_TYPE = re.compile(r"<([^>]+)>")
"""Of a value, as typer writes it."""
_TYPE_WORDS = {"int": "COUNT", "float": "NUMBER", "path": "FILE", "str": "TEXT"}
_FLAG_WIDTH = 26
"""A name that is longer has a line of its own, so that what it means keeps its room."""


class HelpfulCommand(TyperCommand):
    """A command that knows examples, and older names of its flags."""

    examples: Sequence[str] = ()
    aliases: Mapping[str, str] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [self._named_today(arg) for arg in args])

    def _named_today(self, arg: str) -> str:
        name, sign, value = arg.partition("=")
        return f"{self.aliases[name]}{sign}{value}" if name in self.aliases else arg

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("\n".join(self._lines(ctx)) + "\n")

    def _lines(self, ctx: Any) -> Iterator[str]:
        yield from _usage(self, ctx)
        yield ""
        yield from wrapped(self.help or "", 0)
        yield from _arguments(self.get_params(ctx), ctx)
        yield from _options(self.get_params(ctx), ctx)
        if self.examples:
            yield from ("", "Examples")
            for example in self.examples:
                yield from wrapped(example, 2, hanging=4, end=" \\")
        if self.aliases:
            yield from ("", "Older names that mean the same")
            said = ", ".join(f"{old} is {new}" for old, new in self.aliases.items())
            yield from wrapped(f"{said}.", 2)


class HelpfulGroup(TyperGroup):
    """Commands below a command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        lines = [*_usage(self, ctx), ""]
        lines += wrapped(self.help or "", 0)
        lines += _options(self.get_params(ctx), ctx)
        formatter.write("\n".join([*lines, *self.command_lines(ctx)]) + "\n")

    def command_lines(self, ctx: Any) -> Iterator[str]:
        yield from ("", "Commands")
        yield from self.listed(ctx, self.list_commands(ctx))

    def listed(self, ctx: Any, names: Sequence[str]) -> Iterator[str]:
        found = [(name, self.get_command(ctx, name)) for name in names]
        room = max((len(name) for name, _ in found), default=0) + 4
        for name, command in found:
            if command is not None and not command.hidden:
                yield from beside(f"  {name}", (command.help or "").split("\n\n")[0], room)


def make_helpful(command: Any) -> None:
    """A command as typer made it, and all below it, get this help."""
    if type(command) is TyperCommand:
        command.__class__ = HelpfulCommand
    if isinstance(command, HelpfulCommand):
        command.examples = getattr(command.callback, "examples", ())
        command.aliases = getattr(command.callback, "aliases", {})
    elif type(command) is TyperGroup:
        command.__class__ = HelpfulGroup
    for below in getattr(command, "commands", {}).values():
        make_helpful(below)


def _usage(command: Any, ctx: Any) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(ctx)).replace("{", "").replace("}", "")
    yield from wrapped(f"Usage: {ctx.command_path} {pieces}", 0, hanging=7)


def _arguments(params: Sequence[Any], ctx: Any) -> Iterator[str]:
    found = [param for param in params if param.param_type_name == "argument" and not param.hidden]
    if found:
        yield from ("", "Arguments")
    for param in found:
        name = param.metavar or param.human_readable_name
        yield from beside(f"  {name}", param.help or "", _FLAG_WIDTH)


def _options(params: Sequence[Any], ctx: Any) -> Iterator[str]:
    options = [param for param in params if param.param_type_name != "argument" and not param.hidden]
    own = dict.fromkeys(option.rich_help_panel for option in options if _has_own_group(option))
    place = ORDER.index(TEST) + 1
    groups: dict[str, list[Any]] = {name: [] for name in (*ORDER[:place], *own, *ORDER[place:])}
    for option in options:
        groups[group_text(option)].append(option)
    for name, found in groups.items():
        if found:
            yield from ("", name)
        for option in found:
            yield from beside(f"  {flags_text(option, ctx)}", option_text(option, ctx), _FLAG_WIDTH)


def group_text(option: Any) -> str:
    """As its command says; else the same in every command."""
    return str(option.rich_help_panel) if _has_own_group(option) else group_of(str(option.name))


def _has_own_group(option: Any) -> bool:
    return bool(getattr(option, "rich_help_panel", None))


def flags_text(option: Any, ctx: Any) -> str:
    """Its names and what its value is; a choice says what there is to choose, if that is not much."""
    names = str((option.get_help_record(ctx) or ("",))[0])
    is_long = len(names) > _WIDTH // 2
    return _TYPE.sub(lambda found: _value_words(found[1], is_long=is_long), names)


def _value_words(type_name: str, *, is_long: bool) -> str:
    if "|" in type_name:
        return "NAME" if is_long else type_name
    return _type_words(type_name)


def _choices(option: Any, ctx: Any) -> str:
    """What there is to choose, where it has no room beside the name."""
    names = str((option.get_help_record(ctx) or ("",))[0])
    found = _TYPE.search(names)
    if found is None or "|" not in found[1] or "NAME" not in flags_text(option, ctx):
        return ""
    return f" One of {found[1].replace('|', ', ')}."


def _type_words(type_name: str) -> str:
    """Better than nothing: what a value is should be said by its option."""
    return next((words for name, words in _TYPE_WORDS.items() if name in type_name), type_name.upper())


def option_text(option: Any, ctx: Any) -> str:
    told = f"{option.help or ''}{_choices(option, ctx)}"
    usual = usual_text(option)
    if usual:
        told = f"{told} [{usual}]"
    if option.envvar:
        told = f"{told} (or ${option.envvar})"
    return f"{told} Required." if option.required else told


def usual_text(option: Any) -> str:
    """What holds when it is not given; of what is off nothing need be said."""
    if isinstance(option.show_default, str):
        return option.show_default
    value = option.default
    if option.show_default is False or value in (None, False, "", []) or callable(value):
        return ""
    if option.is_flag:
        return ""
    return str(getattr(value, "value", value))


def beside(first: str, text: str, room: int) -> Iterator[str]:
    """Two columns; where the first is too long, the second begins below it."""
    lines = list(wrapped(text, room))
    if len(first) > room - 2 or not lines:
        yield first
    else:
        lines[0] = first.ljust(room) + lines[0].strip()
    yield from lines


def wrapped(text: str, indent: int, hanging: int | None = None, end: str = "") -> Iterator[str]:
    """Lines of at most 80 columns. `end`: of lines that go on, as a shell needs it."""
    line, later = " " * indent, " " * (indent if hanging is None else hanging)
    is_empty = True
    for word in text.split():
        if not is_empty and len(line) + 1 + len(word) + len(end) > _WIDTH:
            yield line + end
            line, is_empty = later, True
        line += word if is_empty else f" {word}"
        is_empty = False
    if not is_empty:
        yield line
