"""The data extraction language: which part of a record a field or an item's parameter takes.

    wrapped   '#{' expression '}'
    expression  root step*
    root      KEY | VALUE | HEADERS | TOPIC | TIMESTAMP | PARTITION | OFFSET
    step      '.' name | '[' digits ']' | "['" characters "']"
    wildcard  expression '.*'       only as the mapping of `field.*`

The last four roots are plain values and take no step. `a.b` and `a['b']` are the same. Whatever is
wrong is a ValueError that says what and where, for whoever reads the file to add its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_WRAPPED = re.compile(r"#\{(.+)\}", re.DOTALL)
_INDEX = re.compile(r"\[(?:(\d{1,9})|'([^']*)')\]")
_NAME = re.compile(r"[^.\[\]]+")


class Root(StrEnum):
    KEY = "KEY"
    VALUE = "VALUE"
    HEADERS = "HEADERS"
    TOPIC = "TOPIC"
    TIMESTAMP = "TIMESTAMP"
    PARTITION = "PARTITION"
    OFFSET = "OFFSET"


STRUCTURED_ROOTS = frozenset({Root.KEY, Root.VALUE, Root.HEADERS})
Step = str | int


@dataclass(frozen=True)
class Expression:
    """A root and the way down from it; `text` is how it was written, for messages."""

    root: Root
    steps: tuple[Step, ...]
    text: str
    wildcard: bool = False

    @property
    def last_name(self) -> str:
        """What the elements of a list are named after."""
        return next((step for step in reversed(self.steps) if isinstance(step, str)), self.root.value)

    def __str__(self) -> str:
        return self.text


def parse_wrapped(text: str, *, wildcard: bool = False) -> Expression:
    """`#{…}`, as in `field.<NAME>`; with `wildcard` it must end in `.*`, else it must not."""
    match = _WRAPPED.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not an extraction expression; write it as #{{ROOT.name}}, e.g. #{{VALUE}}"
        )
    inner = match[1]
    if not wildcard:
        return parse(inner)
    if not inner.endswith(".*"):
        raise ValueError(f"{text!r} must end in .* here, e.g. #{{VALUE.*}}")
    expression = parse(inner.removesuffix(".*"))
    if expression.root not in STRUCTURED_ROOTS:
        raise ValueError(f"{expression.root} has no parts; only KEY, VALUE and HEADERS can be expanded by .*")
    return Expression(expression.root, expression.steps, inner, wildcard=True)


def parse(text: str) -> Expression:
    """An expression without its wrapping."""
    if text.endswith(".*"):
        raise ValueError(f"{text!r}: a wildcard is allowed only as the mapping of field.*")
    match = _NAME.match(text)
    word = match[0] if match else ""
    if word not in Root.__members__:
        raise ValueError(f"{text!r} must begin with one of {', '.join(Root)}")
    root = Root(word)
    steps = _steps(text, len(word))
    if steps and root not in STRUCTURED_ROOTS:
        raise ValueError(f"{text!r}: {root} is a plain value; nothing can follow it")
    return Expression(root, steps, text)


def _steps(text: str, position: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    while position < len(text):
        if text[position] == "[":
            match = _INDEX.match(text, position)
            if match is None:
                raise ValueError(
                    f"{text!r}: at character {position + 1} must stand an index, [0] or ['name']"
                )
            steps.append(int(match[1]) if match[1] is not None else match[2])
        elif text[position] == ".":
            match = _NAME.match(text, position + 1)
            if match is None or match[0] != match[0].strip():
                raise ValueError(
                    f"{text!r}: a name without blanks must follow the dot at character {position + 1}"
                )
            steps.append(match[0])
        else:
            raise ValueError(f"{text!r}: {text[position]!r} at character {position + 1} is not expected")
        position = match.end()
    return tuple(steps)
