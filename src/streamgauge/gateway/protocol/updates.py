"""The fields of an update on the wire: `<field>|<field>|…`.

    (nothing)   unchanged            ^4          this field and the three after it are unchanged
    #           null                 ^P<patch>   a JSON Patch of the previous value
    $           empty text           ^T<diff>    a TLCP-diff of the previous value
    other       the value, with % | CR LF percent-encoded, and # $ ^ where they come first

A client that applied `^P` keeps the document, not the text, so `^T` may not follow it. To be sure of that
without remembering what was sent to whom, `^T` is made only of values that no patch can have led to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from streamgauge.gateway.protocol import json_patch, percent, text_diff
from streamgauge.gateway.protocol.commands import Diff

_SHORTEST_RUN = 4
"""Of unchanged fields that is worth `^n`; three take two bytes either way."""
_LEADING = {"#": "%23", "$": "%24", "^": "%5E"}


@dataclass(frozen=True, slots=True)
class Diffing:
    """Which differences may be used in place of values, in the order in which to try them."""

    order: tuple[Diff, ...] = ()
    json_min_length: int = 50


class Row:
    """The values of an event for one schema; documents among them are parsed once at most."""

    __slots__ = ("_documents", "values")

    def __init__(self, values: tuple[str | None, ...]) -> None:
        self.values = values
        self._documents: dict[int, json_patch.Json] | None = None

    def document(self, field: int, text: str) -> json_patch.Json | None:
        """The parsed value of a field, None when it is not one to be patched."""
        if self._documents is None:
            self._documents = {}
        if field not in self._documents:
            try:
                self._documents[field] = json_patch.parse(text)
            except json_patch.NotPatchable:
                self._documents[field] = None
        return self._documents[field]


def encode_full(row: Row) -> bytes:
    """All fields, as the first update of an item has to be."""
    return _wire([_literal(value) for value in row.values])


def encode_delta(old: Row, new: Row, diffing: Diffing) -> bytes:
    """What has changed since `old`."""
    tokens: list[str] = []
    unchanged = 0
    for field, (before, value) in enumerate(zip(old.values, new.values, strict=True)):
        if before == value:
            unchanged += 1
            continue
        _add_run(tokens, unchanged)
        unchanged = 0
        tokens.append(_difference(old, new, field, diffing) if before and value else _literal(value))
    _add_run(tokens, unchanged)
    return _wire(tokens)


class ItemDecoder:
    """The client's side: what an item's fields are, update by update."""

    def __init__(self, fields: int) -> None:
        self._fields = fields
        self._documents: dict[int, json_patch.Json] = {}
        self.values: list[str | None] | None = None

    def apply(self, body: str) -> list[str | None]:
        """Takes the fields of an update in; ValueError when they do not follow from the one before."""
        old = self.values
        values: list[str | None] = []
        for token in body.split("|"):
            count = run_length(token)
            if count:
                if old is None or len(values) + count > self._fields:
                    raise ValueError("an update leaves fields unchanged that are not there")
                values += old[len(values) : len(values) + count]
            elif len(values) < self._fields:
                values.append(self._value(len(values), token))
            else:
                break
        if len(values) != self._fields:
            raise ValueError(f"an update of {self._fields} fields has {len(values)}")
        self.values = values
        return values

    def _value(self, field: int, token: str) -> str | None:
        if token.startswith(("^P", "^T")):
            before = self.values[field] if self.values is not None else None
            if before is None:
                raise ValueError("a difference to a value that is not there")
            payload = percent.decode(token[2:])
            return (
                self._patched(field, before, payload)
                if token[1] == "P"
                else self._spliced(field, before, payload)
            )
        self._documents.pop(field, None)
        if token == "#":
            return None
        return "" if token == "$" else percent.decode(token)

    def _patched(self, field: int, before: str, payload: str) -> str:
        if field not in self._documents:
            self._documents[field] = orjson.loads(before)
        document = json_patch.apply(self._documents[field], orjson.loads(payload))
        self._documents[field] = document
        return orjson.dumps(document).decode()

    def _spliced(self, field: int, before: str, payload: str) -> str:
        if field in self._documents:
            raise ValueError("a TLCP-diff of a value that was patched as JSON")
        return text_diff.apply(before, payload)


def run_length(token: str) -> int:
    """How many fields a token leaves unchanged."""
    if not token:
        return 1
    if token[0] != "^" or token.startswith(("^P", "^T")):
        return 0
    if not re.fullmatch(r"\^[1-9]\d{0,8}", token, re.ASCII):
        raise ValueError("an update has a field of an unknown form")
    return int(token[1:])


def _literal(value: str | None) -> str:
    if value is None:
        return "#"
    if not value:
        return "$"
    text = percent.encode_field(value)
    first = _LEADING.get(text[0])
    return text if first is None else first + text[1:]


def _difference(old: Row, new: Row, field: int, diffing: Diffing) -> str:
    """The shortest sound form: a difference only if it is shorter than the value."""
    before, value = old.values[field], new.values[field]
    literal = _literal(value)
    if before is None or value is None:
        return literal
    for kind in diffing.order:
        made = None
        if kind == "P":
            if min(len(before), len(value)) >= diffing.json_min_length:
                made = _patch(old.document(field, before), new.document(field, value))
        elif "P" not in diffing.order or old.document(field, before) is None:
            made = text_diff.diff(before, value)
        if made is not None:
            token = f"^{kind}{percent.encode_field(made)}"
            if len(token) < len(literal):
                return token
    return literal


def _patch(before: json_patch.Json | None, after: json_patch.Json | None) -> str | None:
    if before is None or after is None:
        return None
    patch = json_patch.diff(before, after)
    return None if patch is None else patch.decode()


def _add_run(tokens: list[str], unchanged: int) -> None:
    if unchanged >= _SHORTEST_RUN:
        tokens.append(f"^{unchanged}")
    else:
        tokens.extend([""] * unchanged)


def _wire(tokens: Sequence[str]) -> bytes:
    # Half a surrogate pair, from a JSON escape say, has no UTF-8 form.
    return "|".join(tokens).encode(errors="replace")
