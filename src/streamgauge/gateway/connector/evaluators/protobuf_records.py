"""Protobuf: the message type from a descriptor file or from the registry.

A message is parsed as a whole (in C); only the fields that an expression names are taken out of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.contract import (
    Evaluator,
    Expand,
    Read,
    Undecodable,
)
from streamgauge.gateway.connector.evaluators.protobuf_fields import (
    message_expander,
    message_reader,
)
from streamgauge.gateway.connector.evaluators.protobuf_types import (
    UnknownMessageType,
    file_of_registered,
    message_class,
    message_type_at,
    message_type_named,
    pool_of,
)
from streamgauge.gateway.connector.evaluators.registered import RegisteredSchemas
from streamgauge.gateway.connector.expressions import Expression
from streamgauge.gateway.connector.schema_registry import (
    RegisteredSchema,
    SchemaRegistry,
    schema_id_of,
)


class ProtobufEvaluator(Evaluator):
    def __init__(self, *, message_type: Any = None, registry: SchemaRegistry | None = None) -> None:
        self._class = message_class(message_type) if message_type is not None else None
        self._registered = (
            RegisteredSchemas(registry, _RegisteredFile, serialized=True) if registry is not None else None
        )
        self.blocking = registry is not None

    def reader(self, expression: Expression, *, non_scalars: bool) -> Read:
        return message_reader(expression, non_scalars=non_scalars)

    def expander(self, expression: Expression) -> Expand:
        return message_expander(expression)

    def prepare(self, data: bytes) -> None:
        if self._registered is not None and len(data) > 4 and data[0] == 0:
            self._registered.prepare(schema_id_of(data))

    def decode(self, data: bytes) -> Any:
        if self._registered is not None:
            indexes, start = _message_indexes(data)
            parse, data = self._registered.get(schema_id_of(data)).message_class(indexes), data[start:]
        else:
            parse = self._class
        try:
            return parse.FromString(data)
        except DecodeError as error:
            raise Undecodable(f"not Protobuf: {' '.join(str(error).split())}") from None


class _RegisteredFile:
    """One schema of the registry; a record says which of its message types it is."""

    def __init__(self, schema: RegisteredSchema) -> None:
        self._file = file_of_registered(schema)
        self._classes: dict[tuple[int, ...], Any] = {}

    def message_class(self, indexes: tuple[int, ...]) -> Any:
        found = self._classes.get(indexes)
        if found is None:
            found = self._classes[indexes] = message_class(message_type_at(self._file, indexes))
        return found


def load_message_type(path: Path, name: str) -> Any:
    """From a file as `protoc --descriptor_set_out … --include_imports` writes it."""
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except DecodeError:
        raise BadInput(
            f"{path}: is no set of Protobuf descriptors; "
            "make one with protoc --descriptor_set_out --include_imports"
        ) from None
    try:
        return message_type_named(pool_of(files.file), [file.name for file in files.file], name)
    except UnknownMessageType as error:
        raise BadInput(f"{path}: {error}") from None


def _message_indexes(data: bytes) -> tuple[tuple[int, ...], int]:
    """After the schema's number: a count and the way to the message type; a count of 0 is the first one."""
    count, position = _zigzag(data, 5)
    if count == 0:
        return (0,), position
    if not 0 < count <= 64:
        raise Undecodable(f"not Protobuf of the registry: {count} message indexes")
    indexes = []
    for _ in range(count):
        index, position = _zigzag(data, position)
        indexes.append(index)
    return tuple(indexes), position


def _zigzag(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if position >= len(data) or shift > 35:
            raise Undecodable("not Protobuf of the registry: it ends within its message indexes")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), position
