"""`python -m tools.docs_reference`: pages of the docs site that are made from commands and models."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from streamgauge.cli.commands import _AFTER, _BEFORE, _command, _of_families
from streamgauge.cli.commented_yaml import FIELD_WORDS
from streamgauge.spec.families import all_families
from streamgauge.spec.model import SpecModel

FOLDER = Path(__file__).parents[1] / "docs" / "reference"


def commands_page() -> str:
    """Every command and subcommand, with all its flags."""
    lines = [
        "# Commands",
        "",
        "Every command has `--help`. This page is made from the commands themselves.",
        "",
    ]
    for name in (*_BEFORE, *_of_families(), *_AFTER):
        _, words = {**_BEFORE, **_AFTER}.get(name, ("", None))
        lines += _command_lines(_command(name, words), f"streamgauge {name}", 2)
    return "\n".join(lines) + "\n"


def _command_lines(command: Any, path: str, level: int) -> list[str]:
    context = typer.Context(command, info_name=path)
    lines = [f"{'#' * level} `{path}`", "", (command.help or "").partition("\n")[0], ""]
    rows = [row for parameter in command.get_params(context) if (row := _row(parameter))]
    if rows:
        lines += ["| flag | value | default | meaning |", "| --- | --- | --- | --- |", *rows, ""]
    for name, inner in getattr(command, "commands", {}).items():
        lines += _command_lines(inner, f"{path} {name}", level + 1)
    return lines


def _row(parameter: Any) -> str | None:
    if getattr(parameter, "hidden", False) or parameter.name == "help":
        return None
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts) if name)
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    shown = getattr(parameter, "show_default", True)
    default = shown if isinstance(shown, str) else ("" if shown is False else _default(parameter.default))
    kind = "" if getattr(parameter, "is_flag", False) else str(parameter.metavar or "")
    return f"| {names} | {_cell(kind)} | {_cell(default)} | {_cell(getattr(parameter, 'help', '') or '')} |"


def _default(value: object) -> str:
    if value in (None, False, True, "", ()) or callable(value):
        return ""
    return str(getattr(value, "value", value))


def workloads_page() -> str:
    """Every family's workload, field by field, from the models that check the file."""
    about = (
        "This page is made from the models that check a file; [workload.md](../workload.md) explains them."
    )
    lines = ["# Workload files, field by field", "", about, ""]
    definitions: dict[str, Any] = {}
    for family in all_families():
        words = {**FIELD_WORDS, **family.field_words}
        schema = family.workload_model().model_json_schema(by_alias=True)
        definitions |= schema.pop("$defs", {})
        lines += [
            f"## `kind: {family.kind}`",
            "",
            *_fields(schema, meanings_of(family.workload_model()), words),
        ]
    lines += ["## Parts", ""]
    models = _models()
    for name in sorted(definitions):
        if definitions[name].get("properties"):
            lines += [f"### {name}", "", *_fields(definitions[name], models.get(name, {}), FIELD_WORDS)]
    return "\n".join(lines) + "\n"


def _models() -> dict[str, dict[str, str]]:
    """By the name of a model: what its fields mean."""
    left: list[type[BaseModel]] = [SpecModel]
    found = {}
    while left:
        model = left.pop()
        left += model.__subclasses__()
        found[model.__name__] = meanings_of(model)
    return found


def meanings_of(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field in the source: who reads the code and who reads the page read the same."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not issubclass(owner, BaseModel) or owner is BaseModel:
            continue
        [written] = [
            node
            for node in ast.walk(ast.parse(Path(inspect.getfile(owner)).read_text("utf-8")))
            if isinstance(node, ast.ClassDef) and node.name == owner.__name__
        ]
        for field, below in pairwise(written.body):
            is_said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_said:
                name = field.target.id
                info = model.model_fields.get(name)
                alias = info.alias if info is not None else None
                found[alias or name] = " ".join(str(below.value.value).split())  # type: ignore[attr-defined]
    return found


def _fields(schema: dict[str, Any], meanings: Mapping[str, str], words: Mapping[str, str]) -> Iterator[str]:
    """`words`: what a field of that name means anywhere, for one that says nothing of its own."""
    needed = schema.get("required", ())
    yield from ("| field | is | default | meaning |", "| --- | --- | --- | --- |")
    for name, field in schema.get("properties", {}).items():
        usual = "required" if name in needed else _cell(field.get("default", ""))
        meaning = meanings.get(name) or words.get(name, "")
        yield f"| `{name}` | {_cell(_kind(field))} | {usual} | {_cell(meaning)} |"
    yield ""


def _kind(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in field:
            return " or ".join(dict.fromkeys(_kind(each) for each in field[several]))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return str(field.get("type", "anything"))


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def write_pages(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commands.md").write_text(commands_page(), "utf-8")
    (folder / "workloads.md").write_text(workloads_page(), "utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
