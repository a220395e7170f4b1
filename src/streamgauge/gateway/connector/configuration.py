"""The gateway's configuration, from `adapters.xml` or `gateway.yaml`: read, filled in and checked.

Whatever is wrong is one BadInput, a line a fault: file, line, parameter, and what is allowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.adapters_xml import read_adapters_xml
from streamgauge.gateway.connector.configuration_draft import Block
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.gateway_yaml import read_gateway_yaml
from streamgauge.gateway.connector.parameters import ONLY_IN_A_JVM, present_name
from streamgauge.gateway.server.settings import ServerSettings
from streamgauge.spec.loading import faults
from streamgauge.spec.model import SpecModel

Problem = tuple[int, str]
"""Line, and what is wrong there."""
Settings = TypeVar("Settings", bound=BaseModel)
_MANY = {"item-template": ("item-template.", ""), "map": ("map.", ".to"), "field": ("field.", "")}
"""Parameters of which there may be any number: what stands before and after the name in them."""

_UNKNOWN = "unknown parameter; docs/gateway.md has all there are"


class GatewaySettings(ServerSettings):
    """The server's settings, and what the connector adds to them."""

    users: Path | None = None
    """Who may open sessions (see `authentication`); None: everybody."""


@dataclass(frozen=True)
class GatewayConfiguration:
    path: Path
    adapter_set: str
    server: GatewaySettings
    connections: dict[str, ConnectionSettings] = field(repr=False)
    lines: Mapping[tuple[str, str], int] = field(repr=False, default_factory=dict)
    """(connection, parameter) → line."""

    def place(self, connection: str, parameter: str) -> str:
        """For messages: file, line, connection and parameter."""
        line = self.lines.get((connection, parameter))
        at = f"{self.path}:{line}" if line is not None else str(self.path)
        return f"{at}: connection {connection}: {parameter}"


def load_configuration(path: Path) -> GatewayConfiguration:
    """By its first character: XML begins with `<`, and no YAML mapping does."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    looks_like_xml = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
    draft = (read_adapters_xml if looks_like_xml else read_gateway_yaml)(path, content)
    problems: list[Problem] = []
    server = _checked(GatewaySettings, draft.server, "", problems)
    connections = {
        name: _checked(ConnectionSettings, block, f"connection {name}: ", problems)
        for name, block in draft.connections.items()
    }
    if problems:
        raise BadInput("\n".join(f"{path}:{line}: {words}" for line, words in sorted(problems)))
    return GatewayConfiguration(
        path=path,
        adapter_set=str(draft.adapter_set.value),
        server=_beside(path, server),
        connections={name: _beside(path, connection) for name, connection in connections.items()},
        lines={
            (name, present_name(parameter)): entry.line
            for name, block in draft.connections.items()
            for parameter, entry in block.entries.items()
        },
    )


def parameter_names(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Every parameter's full name → its field, as users write it; `<NAME>` where a name of theirs goes."""
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        written = prefix + (info.alias or name)
        if written in _MANY:
            before, after = _MANY[written]
            found[f"{before}<{'TOPIC' if after else 'NAME'}>{after}"] = info
        elif (inner := _section(info)) is not None:
            found.update(parameter_names(inner, f"{written}."))
        else:
            found[written] = info
    return found


def nested(content: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Full names → the model's own tree. What fits nowhere stays, for the model to refuse."""
    left = dict(content)
    tree: dict[str, Any] = {}
    # A parameter of its own goes before a section: `map.regex.enable` is no topic.
    for name, info in sorted(
        model.model_fields.items(), key=lambda f: _section(f[1]) is not None or f[1].alias in _MANY
    ):
        written = info.alias or name
        if written in _MANY:
            before, after = _MANY[written]
            mine = [
                n for n in left if n.startswith(before) and n.endswith(after) and len(n) > len(before + after)
            ]
            if mine:
                tree[written] = {n.removeprefix(before).removesuffix(after): left.pop(n) for n in mine}
        elif (inner := _section(info)) is not None:
            mine = [n for n in left if n.startswith(f"{written}.")]
            if mine:
                tree[written] = nested({n.removeprefix(f"{written}."): left.pop(n) for n in mine}, inner)
        elif written in left:
            tree[written] = _parts(left.pop(written), info)
    return {**tree, **left}


def _checked(model: type[Settings], block: Block, where: str, problems: list[Problem]) -> Settings:
    content: dict[str, Any] = {}
    given_as: dict[str, str] = {}
    for name, entry in block.entries.items():
        today = present_name(name)
        if ONLY_IN_A_JVM.fullmatch(today):
            words = "chooses a part of a JVM, and there is none; leave it out"
            problems.append((entry.line, f"{where}{name}: {words}"))
        elif today in given_as:
            words = f"is the same as {given_as[today]}; leave one of them"
            problems.append((entry.line, f"{where}{name}: {words}"))
        else:
            content[today], given_as[today] = entry.value, name
    try:
        return model.model_validate(nested(content, model))
    except ValidationError as error:
        problems += [_told(model, block, where, fault, given_as) for fault in faults(error).items()]
        return model.model_construct()


def _section(info: Any) -> type[BaseModel] | None:
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, SpecModel) else None


def _parts(value: Any, info: Any) -> Any:
    """A list may be written as one text, parts between commas."""
    if isinstance(value, str) and get_origin(info.annotation) is tuple:
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _told(
    model: type[BaseModel], block: Block, where: str, fault: tuple[str, str], given_as: dict[str, str]
) -> Problem:
    place, words = fault
    topic = place.removeprefix("map.")
    name = f"map.{topic}.to" if f"map.{topic}.to" in given_as else place
    # A fault between several parameters says itself which one it is of.
    head, _, rest = words.partition(": ")
    named = f"{place}.{head}" if place else head
    if named in given_as or named in parameter_names(model):
        name, words = named, rest
    given = given_as.get(name)
    entry = block.entries.get(given) if given is not None else None
    if entry is None and place:
        beginning = f"{place}."
        entry = next((e for n, e in block.entries.items() if present_name(n).startswith(beginning)), None)
    line = entry.line if entry is not None else block.line
    if words == "unknown field":
        close = difflib.get_close_matches(name, parameter_names(model), n=3, cutoff=0.6)
        words = f"unknown parameter; did you mean {' or '.join(close)}?" if close else _UNKNOWN
    elif words == "this field is required":
        words = "is required"
    label = given or name
    return line, f"{where}{label + ': ' if label else ''}{words}"


def _beside(path: Path, model: Settings) -> Settings:
    """Files are named from where the configuration lies."""
    changed: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Path) and not value.is_absolute():
            changed[name] = path.parent / value
        elif isinstance(value, SpecModel):
            changed[name] = _beside(path, value)
    return model.model_copy(update=changed)
