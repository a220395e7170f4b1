"""Avro: a record at the top, its schema from a file or from the registry.

Only the fields at the top that some expression names are decoded; the others are skipped in the bytes.
Logical types stay the numbers and texts they are stored as, but for decimals, which are no text otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
from fastavro.read import LOGICAL_READERS
from fastavro.schema import SchemaParseException, UnknownType

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.registered import RegisteredSchemas
from streamgauge.gateway.connector.evaluators.scalars import short_text
from streamgauge.gateway.connector.evaluators.trees import TreeEvaluator
from streamgauge.gateway.connector.expressions import Expression
from streamgauge.gateway.connector.schema_registry import (
    RegisteredSchema,
    SchemaRegistry,
    schema_id_of,
)

_SINGLE = "streamgauge-single"
_KEPT_LOGICAL_TYPES = ("decimal",)


def _shortened(single: float, *_: Any) -> float:
    return float(short_text(single))


# Avro's float has 4 bytes; read as Python's 8 it would show digits that nobody wrote.
LOGICAL_READERS[f"float-{_SINGLE}"] = _shortened


class AvroSchema:
    """One writer's schema, and what of it is to be read."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]] = ()) -> None:
        named: dict[str, Any] = {}
        try:
            for _, needed in references:
                fastavro.parse_schema(_plain(json.loads(needed)), named_schemas=named)
            self.writer: Any = fastavro.parse_schema(_plain(json.loads(text)), named_schemas=named)
        except (SchemaParseException, UnknownType, ValueError, TypeError, KeyError) as error:
            raise Undecodable(f"no Avro schema: {' '.join(str(error).split())}") from None
        if not isinstance(self.writer, dict) or not self.writer.get("fields"):
            raise Undecodable("an Avro schema must have a record with fields at its top")
        self.reader: Any = None

    def focus(self, names: frozenset[str] | None) -> AvroSchema:
        """Read only these fields; None: all."""
        fields = self.writer["fields"]
        if names is not None and any(field["name"] not in names for field in fields):
            wanted = [field for field in fields if field["name"] in names]
            part = {"type": "record", "name": self.writer["name"], "fields": wanted}
            # A field may be of a type that is defined inside another one: then all are read.
            with suppress(UnknownType):
                self.reader = fastavro.parse_schema(part, named_schemas={})
        return self

    def decode(self, data: bytes, start: int) -> Any:
        stream = BytesIO(data)
        stream.seek(start)
        try:
            return fastavro.schemaless_reader(stream, self.writer, self.reader)
        # It has no error of its own for bytes that are no Avro: whatever reading them leads to.
        except Exception as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise Undecodable(f"not Avro of schema {self.writer['name']}: {why}") from None


class AvroEvaluator(TreeEvaluator):
    def __init__(self, *, schema: AvroSchema | None = None, registry: SchemaRegistry | None = None) -> None:
        self._names: frozenset[str] | None = None
        self._schema = schema
        self._registered = RegisteredSchemas(registry, self._compile) if registry is not None else None
        self.blocking = registry is not None

    def focus(self, expressions: Sequence[Expression]) -> None:
        firsts = {e.steps[0] if e.steps else None for e in expressions}
        if all(isinstance(name, str) for name in firsts):
            self._names = frozenset(str(name) for name in firsts)
        if self._schema is not None:
            self._schema.focus(self._names)

    def prepare(self, data: bytes) -> None:
        if self._registered is not None and len(data) > 4 and data[0] == 0:
            self._registered.prepare(schema_id_of(data))

    def decode(self, data: bytes) -> Any:
        if self._registered is not None:
            return self._registered.get(schema_id_of(data)).decode(data, 5)
        assert self._schema is not None
        return self._schema.decode(data, 0)

    def _compile(self, schema: RegisteredSchema) -> AvroSchema:
        if schema.kind != "AVRO":
            raise Undecodable(f"the registry has a {schema.kind} schema there, not AVRO")
        return AvroSchema(schema.text, schema.references).focus(self._names)


def load_avro_schema(path: Path) -> AvroSchema:
    try:
        return AvroSchema(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except Undecodable as error:
        raise BadInput(f"{path}: {error}") from None


def _plain(schema: Any) -> Any:
    """Without logical types but decimals; 4-byte floats marked, so that they come out short."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if schema == "float" or (isinstance(schema, dict) and schema.get("type") == "float"):
        return {"type": "float", "logicalType": _SINGLE}
    if not isinstance(schema, dict):
        return schema
    kept = dict(schema)
    if kept.get("logicalType") not in _KEPT_LOGICAL_TYPES:
        kept.pop("logicalType", None)
    for part in ("type", "items", "values"):
        if part in kept:
            kept[part] = _plain(kept[part])
    if isinstance(kept.get("fields"), list):
        kept["fields"] = [_plain_field(field) for field in kept["fields"]]
    return kept


def _plain_field(field: Any) -> Any:
    return {**field, "type": _plain(field["type"])} if isinstance(field, dict) and "type" in field else field
