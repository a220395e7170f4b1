"""Reading expressions from dicts, lists and plain values: what JSON, Avro and key-value pairs decode to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from streamgauge.gateway.connector.evaluators.contract import (
    Evaluator,
    Expand,
    ExtractionFailed,
    Read,
)
from streamgauge.gateway.connector.expressions import Expression, Step

Find = Callable[[Any], Any]
Text = Callable[[Any], str | None]


class TreeEvaluator(Evaluator):
    """An evaluator whose decoded form is a tree of dicts and lists."""

    def reader(self, expression: Expression, *, non_scalars: bool) -> Read:
        return tree_reader(expression, non_scalars=non_scalars)

    def expander(self, expression: Expression) -> Expand:
        return tree_expander(expression)


def tree_reader(expression: Expression, *, non_scalars: bool) -> Read:
    text = any_text if non_scalars else scalar_text
    find = _finder(expression)
    if len(expression.steps) == 1 and isinstance(expression.steps[0], str):
        return _reader_of_one_name(expression.steps[0], find, expression, text)

    def read(tree: Any) -> str | None:
        found = find(tree)
        return found if type(found) is str else _told(text, found, expression)

    return read


def tree_expander(expression: Expression) -> Expand:
    find = _finder(expression)

    def expand(tree: Any) -> dict[str, str | None]:
        found = find(tree)
        if isinstance(found, dict):
            return {str(name): any_text(part) for name, part in found.items()}
        if isinstance(found, list):
            return {f"{expression.last_name}[{number}]": any_text(part) for number, part in enumerate(found)}
        what = "null" if found is None else "a plain value"
        raise ExtractionFailed(f"{expression.text}: {what} has no parts")

    return expand


def scalar_text(value: Any) -> str | None:
    """Numbers and truth values as JSON writes them; objects and lists are refused."""
    kind = type(value)
    if kind is str or value is None:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return int.__repr__(value)
    if kind is float:
        return float.__repr__(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is bytes:
        return str(value, "utf-8", "replace")
    if kind is dict or kind is list:
        raise ExtractionFailed(
            f"is {'an object' if kind is dict else 'a list'}, not a plain value; "
            "set fields.map.non.scalar.values.enable to get its text"
        )
    return str(value)


def any_text(value: Any) -> str | None:
    """Like `scalar_text`, but objects and lists become their JSON text."""
    if type(value) is dict or type(value) is list:
        try:
            return orjson.dumps(value, default=scalar_text, option=orjson.OPT_NON_STR_KEYS).decode()
        except orjson.JSONEncodeError as error:
            raise ExtractionFailed(f"cannot be written as JSON: {error}") from None
    return scalar_text(value)


def _reader_of_one_name(name: str, find: Find, expression: Expression, text: Text) -> Read:
    """The commonest form by far, `VALUE.name`: one look-up and no loop."""

    def read(tree: Any) -> str | None:
        try:
            found = tree[name]
        except (KeyError, TypeError):
            found = find(tree)  # Finds nothing either, and says why.
        return found if type(found) is str else _told(text, found, expression)

    return read


def _told(text: Text, found: Any, expression: Expression) -> str | None:
    try:
        return text(found)
    except ExtractionFailed as failed:
        raise ExtractionFailed(f"{expression.text}: {failed}") from None


def _finder(expression: Expression) -> Find:
    steps = expression.steps

    def find(tree: Any) -> Any:
        found = tree
        for step in steps:
            # The types are compared, not asked for: a string can be indexed, too, but is a plain value.
            kind = type(found)
            there = (
                step in found if kind is dict else kind is list and type(step) is int and step < len(found)
            )
            if not there:
                raise ExtractionFailed(f"{expression.text}: {_why(found, step)}")
            found = found[step]
        return found

    return find


def _why(found: Any, step: Step) -> str:
    wanted = f"index [{step}]" if isinstance(step, int) else f"field [{step}]"
    if found is None:
        return f"cannot take {wanted} from null"
    if isinstance(found, dict):
        return f"{wanted} not found" if isinstance(step, str) else f"cannot take {wanted} from an object"
    if isinstance(found, list):
        return f"{wanted} not found" if isinstance(step, int) else f"cannot take {wanted} from a list"
    return f"cannot take {wanted} from a plain value"
