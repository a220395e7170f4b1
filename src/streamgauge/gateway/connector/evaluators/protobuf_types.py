"""Message types that are known only while running: from descriptor files or from the registry."""

from __future__ import annotations

import base64
import binascii
import importlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.schema_registry import RegisteredSchema

_WELL_KNOWN = (
    "any",
    "api",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
)


class UnknownMessageType(Exception):
    """One line, for whoever knows the file to put its name in front."""


def pool_of(files: Iterable[Any]) -> Any:
    """All files in one pool; Google's own types are there without being given."""
    given = {file.name: file for file in files}
    pool, added = descriptor_pool.DescriptorPool(), set()

    def add(name: str, needed_by: str) -> None:
        if name in added:
            return
        added.add(name)
        file = given.get(name) or _well_known(name)
        if file is None:
            raise UnknownMessageType(f"{needed_by} imports {name}, which is not there")
        for needed in file.dependency:
            add(needed, name)
        pool.AddSerializedFile(file.SerializeToString())

    try:
        for name in given:
            add(name, name)
    except TypeError as error:
        raise UnknownMessageType(" ".join(str(error).split())) from None
    return pool


def message_type_named(pool: Any, files: Sequence[str], name: str) -> Any:
    """By its full name, or by its own name if that is clear."""
    with suppress(KeyError):
        return pool.FindMessageTypeByName(name)
    known = [message for file in files for message in _all_types(pool.FindFileByName(file))]
    fitting = [message for message in known if message.name == name]
    if len(fitting) == 1:
        return fitting[0]
    allowed = ", ".join(sorted(message.full_name for message in fitting or known)) or "none at all"
    problem = "is the name of several message types" if fitting else "is no message type there"
    raise UnknownMessageType(f"{name!r} {problem}; there are {allowed}")


def message_type_at(file: Any, indexes: Sequence[int]) -> Any:
    """By position in the file, then by position among the nested types."""
    here = list(file.message_types_by_name.values())
    found = None
    for index in indexes:
        if not 0 <= index < len(here):
            raise Undecodable(f"the schema has no message type at {list(indexes)}")
        found = here[index]
        here = list(found.nested_types)
    return found


def message_class(message_type: Any) -> Any:
    return message_factory.GetMessageClass(message_type)


def file_of_registered(schema: RegisteredSchema) -> Any:
    """The registry gives file descriptors in base64, under names that it may have made up."""
    if schema.kind != "PROTOBUF":
        raise Undecodable(f"the registry has a {schema.kind} schema there, not PROTOBUF")
    try:
        files = [_file(text, name) for name, text in schema.references]
        main = _file(schema.text, None)
        return pool_of([*files, main]).FindFileByName(main.name)
    except (binascii.Error, DecodeError, ValueError):
        raise Undecodable("the registry's answer is no Protobuf descriptor") from None
    except (UnknownMessageType, KeyError) as error:
        raise Undecodable(f"the registry's Protobuf schema cannot be used: {error}") from None


def _file(text: str, name: str | None) -> Any:
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    if name is not None:
        file.name = name  # It is imported by the reference's name, whatever the file calls itself.
    return file


def _well_known(name: str) -> Any:
    stem = name.removeprefix("google/protobuf/").removesuffix(".proto")
    if name != f"google/protobuf/{stem}.proto" or stem not in _WELL_KNOWN:
        return None
    module = importlib.import_module(f"google.protobuf.{stem}_pb2")
    return descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def _all_types(container: Any) -> Iterator[Any]:
    for message in container.message_types_by_name.values():
        yield from _with_nested(message)


def _with_nested(message: Any) -> Iterator[Any]:
    yield message
    for nested in message.nested_types:
        yield from _with_nested(nested)
