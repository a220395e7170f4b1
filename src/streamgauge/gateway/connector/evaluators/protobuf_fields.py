"""Reading expressions from Protobuf messages. A field that is not set has its default, as Protobuf has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import MessageToDict

from streamgauge.gateway.connector.evaluators.contract import Expand, ExtractionFailed, Read
from streamgauge.gateway.connector.evaluators.scalars import short_text
from streamgauge.gateway.connector.evaluators.trees import scalar_text
from streamgauge.gateway.connector.expressions import Expression, Step

_MESSAGES = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP)


class _Found(NamedTuple):
    """A part of a message. `shape` says what it is: a message, a list, a map or a plain value."""

    value: Any
    field: Any
    shape: str


def message_reader(expression: Expression, *, non_scalars: bool) -> Read:
    find = _finder(expression)

    def read(message: Any) -> str | None:
        if message is None and not expression.steps:
            return None
        found = find(message)
        if found.shape == "plain value":
            return _plain_text(found.field, found.value)
        if non_scalars:
            return orjson.dumps(_as_json(found)).decode()
        raise ExtractionFailed(
            f"{expression.text}: is a {found.shape}, not a plain value; "
            "set fields.map.non.scalar.values.enable to get its text"
        )

    return read


def message_expander(expression: Expression) -> Expand:
    find = _finder(expression)

    def expand(message: Any) -> dict[str, str | None]:
        found = find(message)
        if found.shape == "message":
            return {field.name: _text(_part(found.value, field)) for field in found.value.DESCRIPTOR.fields}
        if found.shape == "map":
            values = found.field.message_type.fields_by_name["value"]
            return {_map_key(key): _text(_element(values, value)) for key, value in found.value.items()}
        if found.shape == "list":
            return {
                f"{expression.last_name}[{number}]": _text(_element(found.field, value))
                for number, value in enumerate(found.value)
            }
        raise ExtractionFailed(f"{expression.text}: a plain value has no parts")

    return expand


def _finder(expression: Expression) -> Callable[[Any], _Found]:
    def find(message: Any) -> _Found:
        if message is None:
            first = expression.steps[0] if expression.steps else "*"
            raise ExtractionFailed(f"{expression.text}: cannot take [{first}] from null")
        found = _Found(message, None, "message")
        for step in expression.steps:
            found = _step(found, step, expression.text)
        return found

    return find


def _step(found: _Found, step: Step, text: str) -> _Found:
    if found.shape == "message" and isinstance(step, str):
        field = found.value.DESCRIPTOR.fields_by_name.get(step)
        if field is not None:
            return _part(found.value, field)
    elif found.shape == "list" and isinstance(step, int):
        if step < len(found.value):
            return _element(found.field, found.value[step])
    elif found.shape == "map" and isinstance(step, str):
        fields = found.field.message_type.fields_by_name
        key = _as_map_key(fields["key"], step)
        if key is not None and key in found.value:
            return _element(fields["value"], found.value[key])
    else:
        raise ExtractionFailed(f"{text}: cannot take [{step}] from a {found.shape}")
    raise ExtractionFailed(f"{text}: [{step}] not found")


def _part(message: Any, field: Any) -> _Found:
    value = getattr(message, field.name)
    if not field.is_repeated:
        return _element(field, value)
    return _Found(value, field, "map" if _is_map(field) else "list")


def _element(field: Any, value: Any) -> _Found:
    return _Found(value, field, "message" if field.type in _MESSAGES else "plain value")


def _is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _map_key(key: Any) -> str:
    return scalar_text(key) or ""


def _as_map_key(field: Any, step: str) -> Any:
    """What `_map_key` makes this step of; a number that is none is not in the map."""
    if field.type == FieldDescriptor.TYPE_STRING:
        return step
    if field.type == FieldDescriptor.TYPE_BOOL:
        return step == "true"
    return int(step) if re.fullmatch(r"-?\d{1,20}", step) else None


def _text(found: _Found) -> str | None:
    if found.shape == "plain value":
        return _plain_text(found.field, found.value)
    return orjson.dumps(_as_json(found)).decode()


def _plain_text(field: Any, value: Any) -> str | None:
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else str(value)
    if field.type == FieldDescriptor.TYPE_FLOAT:
        return short_text(value)
    return scalar_text(value)


def _as_json(found: _Found) -> Any:
    """As Protobuf's own JSON form has it, with the names of the schema."""
    if found.shape == "message":
        return MessageToDict(
            found.value, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    if found.shape == "map":
        values = found.field.message_type.fields_by_name["value"]
        return {_map_key(key): _as_json(_element(values, value)) for key, value in found.value.items()}
    if found.shape == "list":
        return [_as_json(_element(found.field, value)) for value in found.value]
    if found.field.type == FieldDescriptor.TYPE_FLOAT:
        return float(short_text(found.value))
    if found.field.type in (FieldDescriptor.TYPE_ENUM, FieldDescriptor.TYPE_BYTES):
        return _plain_text(found.field, found.value)
    return found.value
