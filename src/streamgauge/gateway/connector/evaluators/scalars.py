"""Keys and values that are one plain value, as Kafka's own serializers write them: big-endian."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np

from streamgauge.gateway.connector.evaluators.contract import (
    Evaluator,
    Expand,
    Read,
    Undecodable,
)
from streamgauge.gateway.connector.expressions import Expression


class ScalarEvaluator(Evaluator):
    """Decodes straight to text; no expression goes below it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._text = _TEXT[kind]

    def decode(self, data: bytes) -> str:
        try:
            return self._text(data)
        except (struct.error, ValueError, KeyError):
            raise Undecodable(f"{len(data)} bytes are not {_NAMES.get(self.kind, self.kind)}") from None

    def reader(self, expression: Expression, *, non_scalars: bool) -> Read:
        return _as_it_is

    def expander(self, expression: Expression) -> Expand:
        raise ValueError(f"{expression.text}: {self.kind} is a plain value and has no parts")


def short_text(single: float) -> str:
    """A number of 4 bytes with as many digits as it holds: 0.1, not 0.10000000149011612."""
    return str(np.float32(single))


def _as_it_is(text: Any) -> str | None:
    return text  # type: ignore[no-any-return]


def _number(form: str) -> Callable[[bytes], str]:
    unpack = struct.Struct(form).unpack
    return lambda data: str(unpack(data)[0])


def _float(data: bytes) -> str:
    return short_text(struct.unpack(">f", data)[0])


def _utf8(data: bytes) -> str:
    """As Kafka's own deserializer: what is not UTF-8 becomes the replacement character."""
    return str(data, "utf-8", "replace")


def _uuid(data: bytes) -> str:
    return str(UUID(data.decode()))


_TEXT: dict[str, Callable[[bytes], str]] = {
    "STRING": _utf8,
    "INTEGER": _number(">i"),
    "LONG": _number(">q"),
    "SHORT": _number(">h"),
    "DOUBLE": _number(">d"),
    "FLOAT": _float,
    "BOOLEAN": lambda data: {b"\0": "false", b"\1": "true"}[data],
    "UUID": _uuid,
    "BYTE_ARRAY": _utf8,
    "BYTE_BUFFER": _utf8,
    "BYTES": _utf8,
}
_NAMES = {
    "INTEGER": "an INTEGER (4 bytes)",
    "LONG": "a LONG (8 bytes)",
    "SHORT": "a SHORT (2 bytes)",
    "DOUBLE": "a DOUBLE (8 bytes)",
    "FLOAT": "a FLOAT (4 bytes)",
    "BOOLEAN": "a BOOLEAN (one byte, 0 or 1)",
    "UUID": "a UUID as text",
}
