"""One record while it is mapped: its parts are decoded when an expression asks for them, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from streamgauge.gateway.connector.evaluators.contract import (
    Evaluator,
    Expand,
    Read,
    Undecodable,
)
from streamgauge.gateway.connector.evaluators.trees import any_text, tree_expander, tree_reader
from streamgauge.gateway.connector.expressions import Expression, Root

Header = tuple[str, bytes | None]
Node = Callable[["Record"], Any]
_NOT_YET: Any = object()


class Record:
    """A message of confluent-kafka, whose parts are methods."""

    __slots__ = ("_key", "_key_evaluator", "_value", "_value_evaluator", "message")

    def __init__(self, message: Any, key_evaluator: Evaluator, value_evaluator: Evaluator) -> None:
        self.message = message
        self._key_evaluator, self._value_evaluator = key_evaluator, value_evaluator
        self._key = self._value = _NOT_YET

    def key(self) -> Any:
        if self._key is _NOT_YET:
            self._key = _decoded(self._key_evaluator, self.message.key(), "KEY")
        return self._key

    def value(self) -> Any:
        if self._value is _NOT_YET:
            self._value = _decoded(self._value_evaluator, self.message.value(), "VALUE")
        return self._value

    def headers(self) -> Sequence[Header]:
        return self.message.headers() or ()

    def itself(self) -> Any:
        return self.message

    def __str__(self) -> str:
        m = self.message
        return f"record {m.topic()}/{m.partition()} at offset {m.offset()}"


NODES: dict[Root, Node] = {
    Root.KEY: Record.key,
    Root.VALUE: Record.value,
    Root.HEADERS: Record.headers,
    Root.TOPIC: Record.itself,
    Root.TIMESTAMP: Record.itself,
    Root.PARTITION: Record.itself,
    Root.OFFSET: Record.itself,
}
"""What the readers of a root's expressions are given."""

_PLAIN: dict[Root, Read] = {
    Root.TOPIC: lambda message: message.topic(),
    Root.TIMESTAMP: lambda message: str(message.timestamp()[1]),
    Root.PARTITION: lambda message: str(message.partition()),
    Root.OFFSET: lambda message: str(message.offset()),
}


class Compiler:
    """Expressions → closures, with the evaluators of one connection."""

    def __init__(self, key: Evaluator, value: Evaluator, *, non_scalars: bool) -> None:
        self._evaluators = {Root.KEY: key, Root.VALUE: value}
        self._non_scalars = non_scalars

    def reader(self, expression: Expression, *, non_scalars: bool | None = None) -> Read:
        """To be called with what NODES has for the expression's root."""
        allowed = self._non_scalars if non_scalars is None else non_scalars
        if expression.root in _PLAIN:
            return _PLAIN[expression.root]
        if expression.root is Root.HEADERS:
            return _headers_reader(expression, non_scalars=allowed)
        return self._evaluators[expression.root].reader(expression, non_scalars=allowed)

    def expander(self, expression: Expression) -> Expand:
        if expression.root is Root.HEADERS:
            return _headers_expander(expression)
        return self._evaluators[expression.root].expander(expression)

    def focus(self, expressions: Sequence[Expression]) -> None:
        for root, evaluator in self._evaluators.items():
            evaluator.focus([expression for expression in expressions if expression.root is root])


def _decoded(evaluator: Evaluator, data: bytes | None, part: str) -> Any:
    if data is None:
        return None
    try:
        return evaluator.decode(data)
    except Undecodable as error:
        raise Undecodable(f"{part}: {error}") from None


def _headers_reader(expression: Expression, *, non_scalars: bool) -> Read:
    read = tree_reader(expression, non_scalars=non_scalars)
    if expression.steps and isinstance(expression.steps[0], int):
        return lambda headers: read([_text(value) for _, value in headers])
    return lambda headers: read(_by_name(headers))


def _headers_expander(expression: Expression) -> Expand:
    if expression.steps:
        expand = tree_expander(expression)
        return lambda headers: expand(_by_name(headers))
    return _every_header


def _every_header(headers: Sequence[Header]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name, value in _by_name(headers).items():
        if isinstance(value, list):
            found.update({f"{name}[{number}]": text for number, text in enumerate(value)})
        else:
            found[name] = any_text(value)
    return found


def _by_name(headers: Sequence[Header]) -> dict[str, Any]:
    """A name that is there several times has a list."""
    found: dict[str, Any] = {}
    repeated: dict[str, list[str | None]] = {}
    for name, value in headers:
        if name in found:
            repeated.setdefault(name, [found[name]]).append(_text(value))
        else:
            found[name] = _text(value)
    return {**found, **repeated}


def _text(value: bytes | None) -> str | None:
    return None if value is None else str(value, "utf-8", "replace")
