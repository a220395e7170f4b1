"""Descriptors of a small set of Protobuf files, as protoc would write them."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as F
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from streamgauge.gateway.connector.evaluators.protobuf_types import message_class, pool_of


def place_file() -> Any:
    file = FileDescriptorProto(name="place.proto", package="geo", syntax="proto3")
    message = file.message_type.add(name="Place")
    message.field.add(name="x", number=1, type=F.TYPE_FLOAT, label=F.LABEL_OPTIONAL)
    message.field.add(name="name", number=2, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    return file


def stock_file() -> Any:
    file = FileDescriptorProto(name="stock.proto", package="demo", syntax="proto3")
    file.dependency.extend(["place.proto", "google/protobuf/timestamp.proto"])
    kind = file.enum_type.add(name="Kind")
    kind.value.add(name="NONE", number=0)
    kind.value.add(name="BOND", number=1)
    message = file.message_type.add(name="Stock")
    for number, (name, kind_of) in enumerate(
        [
            ("name", F.TYPE_STRING),
            ("price", F.TYPE_DOUBLE),
            ("single", F.TYPE_FLOAT),
            ("big", F.TYPE_UINT64),
            ("raw", F.TYPE_BYTES),
            ("live", F.TYPE_BOOL),
        ],
        1,
    ):
        message.field.add(name=name, number=number, type=kind_of, label=F.LABEL_OPTIONAL)
    message.field.add(name="kind", number=7, type=F.TYPE_ENUM, type_name=".demo.Kind", label=F.LABEL_OPTIONAL)
    of_place = {"type": F.TYPE_MESSAGE, "type_name": ".geo.Place"}
    message.field.add(name="where", number=8, label=F.LABEL_OPTIONAL, **of_place)
    message.field.add(name="places", number=9, label=F.LABEL_REPEATED, **of_place)
    message.field.add(name="levels", number=10, type=F.TYPE_FLOAT, label=F.LABEL_REPEATED)
    _map(message, "tags", 11, F.TYPE_STRING, {"type": F.TYPE_STRING})
    _map(message, "by_number", 12, F.TYPE_INT32, of_place)
    _map(message, "by_truth", 13, F.TYPE_BOOL, {"type": F.TYPE_FLOAT})
    stamp = {"type": F.TYPE_MESSAGE, "type_name": ".google.protobuf.Timestamp"}
    message.field.add(name="at", number=14, label=F.LABEL_OPTIONAL, **stamp)
    nested = message.nested_type.add(name="Inner")
    nested.field.add(name="y", number=1, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL)
    other = file.message_type.add(name="Other")
    other.nested_type.add(name="Inner").field.add(
        name="z", number=1, type=F.TYPE_INT32, label=F.LABEL_OPTIONAL
    )
    return file


def descriptor_set() -> bytes:
    found: bytes = FileDescriptorSet(file=[place_file(), stock_file()]).SerializeToString()
    return found


def stock_type(name: str = "demo.Stock") -> Any:
    return pool_of([place_file(), stock_file()]).FindMessageTypeByName(name)


def a_stock() -> Any:
    stock = message_class(stock_type())(
        name="Anduct",
        price=0.1,
        single=0.1,
        big=2**63 + 1,
        raw=b"\xc3\xbc\xff",
        live=True,
        kind=1,
        levels=[1.5, 0.2],
    )
    stock.where.x, stock.where.name = 0.7, "here"
    stock.places.add(x=1.0, name="one")
    stock.tags["a"] = "A"
    stock.by_number[-5].name = "minus five"
    stock.by_truth[True] = 0.3
    stock.at.seconds = 10
    return stock


def _map(message: Any, name: str, number: int, key: int, value: dict[str, Any]) -> None:
    entry = "".join(part.capitalize() for part in name.split("_")) + "Entry"
    made = message.nested_type.add(name=entry, options=descriptor_pb2.MessageOptions(map_entry=True))
    made.field.add(name="key", number=1, type=key, label=F.LABEL_OPTIONAL)
    made.field.add(name="value", number=2, label=F.LABEL_OPTIONAL, **value)
    message.field.add(
        name=name,
        number=number,
        type=F.TYPE_MESSAGE,
        type_name=f".demo.Stock.{entry}",
        label=F.LABEL_REPEATED,
    )
