from __future__ import annotations

import base64
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.protobuf_records import (
    ProtobufEvaluator,
    load_message_type,
)
from streamgauge.gateway.connector.expressions import parse, parse_wrapped
from streamgauge.gateway.connector.schema_registry import SchemaRegistry

from ..registry_server import Registry, running
from .protobuf_samples import a_stock, descriptor_set, place_file, stock_file, stock_type


@pytest.fixture
def descriptors(tmp_path: Path) -> Path:
    path = tmp_path / "stock.desc"
    path.write_bytes(descriptor_set())
    return path


@pytest.mark.parametrize("name", ["demo.Stock", "Stock"])
def test_a_message_type_of_a_descriptor_file(descriptors: Path, name: str) -> None:
    evaluator = ProtobufEvaluator(message_type=load_message_type(descriptors, name))
    found = evaluator.decode(a_stock().SerializeToString())
    assert evaluator.reader(parse("VALUE.name"), non_scalars=False)(found) == "Anduct"
    assert evaluator.expander(parse_wrapped("#{VALUE.where.*}", wildcard=True))(found) == {
        "x": "0.7",
        "name": "here",
    }
    assert not evaluator.blocking
    with pytest.raises(Undecodable, match="not Protobuf: "):
        evaluator.decode(b"\xff\xff")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Bond", r"'Bond' is no message type there; there are demo\.Other"),
        ("Inner", r"'Inner' is the name of several .*demo\.Other\.Inner, demo\.Stock\.Inner"),
    ],
)
def test_a_message_type_that_is_not_there(descriptors: Path, name: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        load_message_type(descriptors, name)


def test_files_that_are_no_descriptors(tmp_path: Path) -> None:
    path = tmp_path / "x.desc"
    path.write_text('syntax = "proto3";')
    with pytest.raises(BadInput, match="protoc --descriptor_set_out"):
        load_message_type(path, "M")
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load_message_type(tmp_path / "none", "M")
    alone = stock_file()
    path.write_bytes(b"\x0a" + _varint(alone.ByteSize()) + alone.SerializeToString())
    with pytest.raises(BadInput, match=r"stock\.proto imports place\.proto, which is not there"):
        load_message_type(path, "Stock")


def test_schemas_of_the_registry() -> None:
    def serialized(file: object) -> str:
        return base64.b64encode(file.SerializeToString()).decode()  # type: ignore[attr-defined]

    made_up = place_file()
    made_up.name = "default"
    registry = Registry(
        schemas={
            1: {
                "schema": serialized(stock_file()),
                "schemaType": "PROTOBUF",
                "references": [{"name": "place.proto", "subject": "place", "version": 1}],
            },
            2: {"schema": "no base64!", "schemaType": "PROTOBUF"},
            3: {"schema": serialized(stock_file()), "schemaType": "PROTOBUF"},
            4: {"schema": "{}", "schemaType": "JSON"},
        },
        subjects={("place", 1): {"schema": serialized(made_up)}},
    )
    with running(registry):
        evaluator = ProtobufEvaluator(registry=SchemaRegistry(registry.url, deadline_s=1))
        assert evaluator.blocking
        body = a_stock().SerializeToString()
        for number in (1, 2, 3, 4):
            evaluator.prepare(b"\0\0\0\0" + bytes([number]) + b"\0")
        assert evaluator.decode(b"\0\0\0\0\1\0" + body).name == "Anduct"
        assert evaluator.decode(b"\0\0\0\0\1\2\0" + body).name == "Anduct"
        inner = evaluator.decode(b"\0\0\0\0\1" + _varint(4) + _varint(2) + _varint(0) + b"\x08\x05")
        assert (inner.DESCRIPTOR.full_name, inner.z) == ("demo.Other.Inner", 5)
        for data, says in (
            (b"\0\0\0\0\1" + _varint(2) + _varint(10), "no message type at"),
            (b"\0\0\0\0\1", "ends within its message indexes"),
            (b"\0\0\0\0\1\x80\x80", "ends within its message indexes"),
            (b"\0\0\0\0\1\x01", "-1 message indexes"),
            (b"\0\0\0\0\2\0", "no Protobuf descriptor"),
            (b"\0\0\0\0\3\0", "imports place.proto, which is not there"),
            (b"\0\0\0\0\4\0", "a JSON schema there, not PROTOBUF"),
            (b"\1\0\0\0\1\0", "zero byte"),
            (b"\0\0\0\0\1\0\xff\xff", "not Protobuf"),
        ):
            with pytest.raises(Undecodable, match=says):
                evaluator.decode(data)


def _varint(number: int) -> bytes:
    """Plain, which for even numbers is also zigzag of their half."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def test_the_sample_type_is_what_the_tests_take_it_for() -> None:
    assert stock_type().full_name == "demo.Stock"
