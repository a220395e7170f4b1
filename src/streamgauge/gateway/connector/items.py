"""Names of items: what a client subscribes, and the templates that records are matched with.

    item      prefix  |  prefix-[name=value,name=value]
    template  prefix-#{name=EXPRESSION,name=EXPRESSION}

The order of parameters does not matter. A value cannot hold a comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamgauge.gateway.connector.expressions import Expression, parse

PREFIX = re.compile(r"[a-zA-Z0-9_-]+")
_ITEM = re.compile(r"([a-zA-Z0-9_-]+?)(?:-\[(.*)\])?", re.DOTALL)
_TEMPLATE = re.compile(r"([a-zA-Z0-9_-]+)-#\{(.+)\}", re.DOTALL)
_PARAMETER = re.compile(r"([a-zA-Z._]\w*)=([^,]+)(?:,|$)")


@dataclass(frozen=True)
class Item:
    """A subscribed item, parameters by name."""

    prefix: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parameters)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for _, value in self.parameters)


@dataclass(frozen=True)
class Template:
    """Which items a record belongs to: those with this prefix and these values; sorted by name."""

    prefix: str
    parameters: tuple[tuple[str, Expression], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parameters)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for _, expression in self.parameters)


def parse_item(text: str) -> Item:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no item; write name or name-[parameter=value,…]")
    found = _parameters(text, match[2]) if match[2] else {}
    return Item(match[1], tuple(sorted(found.items())))


def parse_template(text: str) -> Template:
    """`prefix-#{…}`; a bare name, as the first release allowed, is an item without parameters."""
    if PREFIX.fullmatch(text):
        return Template(text, ())
    match = _TEMPLATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no item template; write prefix-#{{name=EXPRESSION,…}}")
    found = {name: parse(value) for name, value in _parameters(text, match[2]).items()}
    return Template(match[1], tuple(sorted(found.items(), key=lambda parameter: parameter[0])))


def _parameters(text: str, inner: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(inner):
        match = _PARAMETER.match(inner, position)
        if match is None:
            raise ValueError(f"{text!r}: {inner[position:]!r} is not name=value[,name=value …]")
        if match[1] in found:
            raise ValueError(f"{text!r}: parameter {match[1]!r} is there twice")
        found[match[1]] = match[2]
        position = match.end()
    return found
