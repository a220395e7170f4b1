from __future__ import annotations

import json
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.avro_records import (
    AvroEvaluator,
    AvroSchema,
    load_avro_schema,
)
from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed, Undecodable
from streamgauge.gateway.connector.expressions import parse, parse_wrapped
from streamgauge.gateway.connector.schema_registry import SchemaRegistry

from ..registry_server import Registry, running

MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Stock",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "price", "type": "float"},
        {"name": "exact", "type": "double"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "cost", "type": MONEY},
        {"name": "note", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "raw", "type": {"type": "fixed", "name": "Raw", "size": 2}},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "float"}}},
        {
            "name": "where",
            "type": {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "int"}]},
        },
        {"name": "then", "type": "Place"},
    ],
}
STOCK: dict[str, Any] = {
    "name": "Anduct",
    "price": 0.1,
    "exact": 0.1,
    "at": 1_700_000_000_123,
    "cost": Decimal("12.30"),
    "note": None,
    "kind": "B",
    "raw": b"ab",
    "tags": {"t": [1.5, 0.2]},
    "where": {"x": 7},
    "then": {"x": 8},
}


def encoded(record: dict[str, Any] = STOCK, schema: dict[str, Any] = SCHEMA) -> bytes:
    out = BytesIO()
    plain = json.loads(json.dumps(schema).replace('"logicalType": "timestamp-millis"', '"x": 1'))
    fastavro.schemaless_writer(out, plain, record)
    return out.getvalue()


def local() -> AvroEvaluator:
    return AvroEvaluator(schema=AvroSchema(json.dumps(SCHEMA)))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("VALUE.name", "Anduct"),
        ("VALUE.price", "0.1"),
        ("VALUE.exact", "0.1"),
        ("VALUE.at", "1700000000123"),
        ("VALUE.cost", "12.30"),
        ("VALUE.note", None),
        ("VALUE.kind", "B"),
        ("VALUE.raw", "ab"),
        ("VALUE.tags.t[1]", "0.2"),
        ("VALUE.tags['t'][0]", "1.5"),
        ("VALUE.where.x", "7"),
        ("VALUE.then.x", "8"),
    ],
)
def test_every_kind_of_field_alone_and_among_all(expression: str, text: str | None) -> None:
    for focused in (False, True):
        evaluator = local()
        if focused:
            evaluator.focus([parse(expression)])
        read = evaluator.reader(parse(expression), non_scalars=False)
        assert read(evaluator.decode(encoded())) == text


def test_only_what_is_asked_for_is_decoded() -> None:
    evaluator = local()
    evaluator.focus([parse("VALUE.name"), parse("VALUE.where.x")])
    assert evaluator.decode(encoded()) == {"name": "Anduct", "where": {"x": 7}}
    evaluator.focus([])
    whole = local()
    whole.focus([parse("VALUE.name"), parse_wrapped("#{VALUE.*}", wildcard=True)])
    assert set(whole.decode(encoded())) == set(STOCK)


def test_what_is_not_in_the_schema_is_not_found() -> None:
    evaluator = local()
    evaluator.focus([parse("VALUE.nope")])
    with pytest.raises(ExtractionFailed, match=r"field \[nope\] not found"):
        evaluator.reader(parse("VALUE.nope"), non_scalars=False)(evaluator.decode(encoded()))


def test_objects_as_text_and_wildcards() -> None:
    evaluator = local()
    tree = evaluator.decode(encoded())
    assert evaluator.reader(parse("VALUE.tags"), non_scalars=True)(tree) == '{"t":[1.5,0.2]}'
    assert evaluator.expander(parse_wrapped("#{VALUE.where.*}", wildcard=True))(tree) == {"x": "7"}
    every = evaluator.expander(parse_wrapped("#{VALUE.*}", wildcard=True))(tree)
    assert (every["cost"], every["tags"], every["note"]) == ("12.30", '{"t":[1.5,0.2]}', None)


@pytest.mark.parametrize("data", [b"", b"\x05", b"\xff" * 40])
def test_bytes_that_are_no_avro(data: bytes) -> None:
    with pytest.raises(Undecodable, match="not Avro of schema Stock"):
        local().decode(data)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "no Avro schema"),
        ('"string"', "record with fields at its top"),
        ('{"type": "array", "items": "string"}', "record with fields at its top"),
        ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "Unknown"}]}', "no Avro schema"),
        ('{"type": "record", "name": "R"}', "record with fields at its top"),
    ],
)
def test_a_schema_file_that_is_none(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "s.avsc"
    path.write_text(content)
    with pytest.raises(BadInput, match=rf"s\.avsc: .*{says}"):
        load_avro_schema(path)
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load_avro_schema(tmp_path / "none.avsc")


def test_schemas_of_the_registry_are_fetched_once_each() -> None:
    place = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "float"}]}
    with_reference = {"type": "record", "name": "R", "fields": [{"name": "p", "type": "Place"}]}
    registry = Registry(
        schemas={
            1: {"schema": json.dumps(SCHEMA)},
            2: {
                "schema": json.dumps(with_reference),
                "references": [{"name": "Place", "subject": "place", "version": 1}],
            },
            3: {"schema": "message M {}", "schemaType": "PROTOBUF"},
        },
        subjects={("place", 1): {"schema": json.dumps(place)}},
    )
    with running(registry):
        evaluator = AvroEvaluator(registry=SchemaRegistry(registry.url, deadline_s=1))
        evaluator.focus([parse("VALUE.name"), parse("VALUE.p.x")])
        assert evaluator.blocking
        first = b"\0\0\0\0\1" + encoded()
        inlined = {**with_reference, "fields": [{"name": "p", "type": place}]}
        second = b"\0\0\0\0\2" + encoded({"p": {"x": 0.3}}, inlined)
        for _ in range(3):
            evaluator.prepare(first)
            evaluator.prepare(second)
        assert evaluator.decode(first) == {"name": "Anduct"}
        assert evaluator.decode(second) == {"p": {"x": 0.3}}
        assert len(registry.requests) == 3
        evaluator.prepare(b"\0\0\0\0\3x")
        with pytest.raises(Undecodable, match="PROTOBUF schema there, not AVRO"):
            evaluator.decode(b"\0\0\0\0\3x")
        with pytest.raises(Undecodable, match="schema 4 is not to be had: it was not fetched"):
            evaluator.decode(b"\0\0\0\0\4x")
        evaluator.prepare(b"no number")
