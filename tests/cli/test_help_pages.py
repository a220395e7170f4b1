"""The help of every command, walked through as a reader would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from streamgauge.cli.commands import app
from streamgauge.cli.help_pages import HelpfulCommand, beside, flags_text, group_text, wrapped
from streamgauge.flags.groups import LOAD, ORDER, VOCABULARY
from streamgauge.spec.families import all_families

ROOT = Path(__file__).parents[2]
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
CALL = re.compile(r"streamgauge ([a-z][^\n`|;&]*)")
UNITLESS = re.compile(r" (STR|INT|FLOAT|PATH|INTEGER|LIST\[\w+\]|INT RANGE|FLOAT RANGE)\b")
"""What a value is must be said: COUNT, BYTES, TIME, RATE, FILE …"""


@cache
def commands() -> dict[str, tuple[Any, Any]]:
    """By the words that call them: command and context."""
    found: dict[str, tuple[Any, Any]] = {}

    def walk(command: Any, context: Any, path: str) -> None:
        found[path] = (command, context)
        if not hasattr(command, "list_commands"):
            return
        for name in command.list_commands(context):
            _, below, _ = command.resolve_command(context, [name])
            made = type(context)(below, info_name=name, parent=context)
            walk(below, made, f"{path} {name}".strip())

    root: Any = typer.main.get_command(app)
    walk(root, root.context_class(root, info_name="streamgauge", help_option_names=["-h", "--help"]), "")
    return found


def options() -> Iterator[tuple[str, Any, Any]]:
    for path, (command, context) in commands().items():
        for param in command.get_params(context):
            if param.param_type_name == "option" and not param.hidden:
                yield path, param, context


def test_all_commands_are_walked() -> None:
    walked = set(commands())
    assert {"", "run", "init", "doctor", "runs rm", "cluster up", "topic create"} <= walked
    assert {name for family in all_families() for name in family.commands} <= walked


def test_every_option_says_what_it_is_for_in_which_unit_and_stands_in_a_group() -> None:
    faults = []
    for path, option, context in options():
        name = f"{path} {flags_text(option, context)}"
        if not option.help:
            faults.append(f"{name}: no help")
        is_choice = "|" in str(option.get_help_record(context))
        is_plain = not option.metavar and not is_choice and not option.is_flag
        if UNITLESS.search(name) or is_plain:
            faults.append(f"{name}: no unit")
        if not group_text(option):
            faults.append(f"{name}: no group")
    assert not faults, "\n".join(faults)


def test_the_words_of_the_vocabulary_mean_the_same_everywhere() -> None:
    seen: dict[str, set[str]] = {}
    for path, option, context in options():
        if option.name in VOCABULARY:
            seen.setdefault(option.name, set()).add(path)
            if path in measuring():
                assert group_text(option) == LOAD, path
                assert f"--{option.name.replace('_', '-')}" in flags_text(option, context)
    assert set(seen) == set(VOCABULARY)


def test_a_command_that_measures_has_every_word_but_those_that_its_page_says_it_has_no_meaning_for() -> None:
    page = (ROOT / "docs/command-line.md").read_text("utf-8")
    [table] = re.findall(r"\| command \| has no \| because \|\n.*?\n((?:\|.*\n)+)", page)
    said = {}
    for line in table.splitlines():
        command, words, because = (cell.strip() for cell in line.strip("|").split(" | "))
        assert len(because) > 20, line
        said[command.strip("`")] = set(FLAG.findall(words))
    flags = {f"--{word.replace('_', '-')}" for word in VOCABULARY}
    for path in {*measuring(), "chaos", "leader"}:
        command, context = commands()[path]
        here = {name for param in command.get_params(context) for name in param.opts}
        assert flags - here == said.pop(path, set()), path
    assert not said, "rows of no command"


def measuring() -> set[str]:
    """Commands of families that make a workload."""
    of_families = {name for family in all_families() for name in family.commands}
    return {path for path, option, _ in options() if option.name == "print_workload"} & of_families


def test_older_names_mean_what_they_meant() -> None:
    for path, (command, context) in commands().items():
        names = {name for param in command.get_params(context) for name in param.opts}
        for old, new in getattr(command, "aliases", {}).items():
            assert new in names, f"{path}: {old} is {new}, which there is not"
            assert old not in names, f"{path}: {old}"
    # Whoever takes over the flags of a command takes over their older names.
    assert commands()["leader"][0].aliases == commands()["e2e"][0].aliases
    command, context = commands()["e2e"]
    assert command._named_today("--test-produce-rate=5") == "--rate=5"
    assert command._named_today("--rate") == "--rate"


@pytest.mark.parametrize("path", commands())
def test_the_help_of_a_command_can_be_read_at_80_columns(path: str) -> None:
    command, context = commands()[path]
    told = command.get_help(context)
    assert max(map(len, told.splitlines())) <= 80
    assert "-h, --help" in told
    headings = [line for line in told.splitlines() if line and not line.startswith(" ")]
    places = [ORDER.index(line) for line in headings if line in ORDER]
    assert places == sorted(places)


def test_every_argument_says_what_it_is() -> None:
    for path, (command, context) in commands().items():
        for param in command.get_params(context):
            if param.param_type_name == "argument" and not param.hidden:
                assert param.help, f"{path}: {param.name}"
                assert param.metavar, f"{path}: {param.name}"


def leaves() -> dict[str, tuple[Any, Any]]:
    return {path: found for path, found in commands().items() if not hasattr(found[0], "list_commands")}


@pytest.mark.parametrize("path", leaves())
def test_a_command_has_examples_that_hold(path: str) -> None:
    command, context = leaves()[path]
    assert isinstance(command, HelpfulCommand)
    assert command.examples
    names = {name for param in command.get_params(context) for name in param.opts}
    if path in ("init", "deploy kubernetes"):
        # Another command follows, with its flags.
        names |= {
            name for found, below in leaves().values() for p in found.get_params(below) for name in p.opts
        }
    for example in command.examples:
        assert example.startswith(f"streamgauge {path}"), example
        used = set(re.findall(r"(?<!\S)--[\w-]+", example))
        assert used <= names, example
        shown = " ".join(command.get_help(context).replace("\\\n", " ").split())
        assert " ".join(example.split()) in shown


def docs_but_command_line() -> dict[str, str]:
    """What people copy from: pages, the README, examples, the Makefile."""
    pages = [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "examples").rglob("*"),
        *(ROOT / "docs/examples").rglob("*"),
    ]
    pages += [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "deploy").rglob("*")]
    return {
        str(page.relative_to(ROOT)): page.read_text("utf-8", errors="replace")
        for page in pages
        if page.is_file() and page.name != "command-line.md"
    }


def test_no_page_teaches_an_older_name() -> None:
    aliases = {path: set(command.aliases) for path, (command, _) in leaves().items()}
    today = {name for _, option, _ in options() for name in option.opts}
    everywhere = set().union(*aliases.values()) - today
    assert {"--test-produce-rate", "--message-size", "--length", "--for", "--agents"} <= everywhere
    faults, calls_seen = [], 0
    for page, text in docs_but_command_line().items():
        faults += [f"{page}: {flag}" for flag in FLAG.findall(text) if flag in everywhere]
        # A name that is older in one command and today's in another, in a call of the one.
        for call in CALL.finditer(text.replace("\\\n", " ")):
            calls_seen += 1
            path = next((path for path in aliases if path and f"{call[1]} ".startswith(f"{path} ")), "")
            faults += [
                f"{page}: {call[0]}" for flag in FLAG.findall(call[1]) if flag in aliases.get(path, ())
            ]
    assert calls_seen > 100
    assert not faults, "\n".join(faults)


def test_the_calls_that_people_copy_first_have_flags_that_there_are() -> None:
    faults, seen = [], set()
    for page in ("README.md", "docs/how-to.md", "docs/index.md", "docs/tutorial.md"):
        text = (ROOT / page).read_text("utf-8").replace("\\\n", " ")
        for call in CALL.finditer(text):
            fits = [path for path in leaves() if path and f"{call[1]} ".startswith(f"{path} ")]
            if not fits:
                continue
            path = max(fits, key=len)
            seen.add(path)
            command, context = leaves()[path]
            names = {name for param in command.get_params(context) for name in param.opts}
            faults += [f"{page}: {call[0]}: {flag}" for flag in FLAG.findall(call[1]) if flag not in names]
    assert {"e2e", "sweep", "limit", "compare", "fanout", "diff", "check", "serve", "doctor"} <= seen
    assert not faults, "\n".join(faults)


def test_columns_and_lines_that_go_on() -> None:
    assert list(beside("  --a", "words", 10)) == ["  --a     words"]
    assert list(beside("  --a-long-one", "words", 10)) == ["  --a-long-one", "          words"]
    assert list(beside("  --a", "", 10)) == ["  --a"]
    long = " ".join(["word"] * 30)
    lines = list(wrapped(long, 2, hanging=4, end=" \\"))
    assert all(len(line) <= 80 for line in lines)
    assert [line.endswith(" \\") for line in lines] == [True, False]
