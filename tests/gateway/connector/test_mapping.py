from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.mapping import RecordMapping

from .fakes import Listening, Message, connection


def test_a_record_reaches_the_items_that_are_subscribed_and_no_others() -> None:
    mapping = RecordMapping(
        connection(
            **{"item-template__stock": "stock-#{index=KEY}"},
            map__stocks__to="item-template.stock,all",
            field__v="#{VALUE}",
        )
    )
    listener = Listening()

    def publish(key: bytes) -> bool:
        return mapping.publish(mapping.record(Message(b"1.5", key, "stocks")), listener, lambda _: None)

    assert not publish(b"7")
    mapping.subscribe("stock-[index=7]")
    assert publish(b"7")
    assert not publish(b"8")
    mapping.subscribe("all")
    assert publish(b"8")
    assert listener.updates() == [("stock-[index=7]", {"v": "1.5"}), ("all", {"v": "1.5"})]
    assert mapping.subscribed_count == 2
    mapping.unsubscribe_all()
    assert mapping.subscribed_count == 0
    assert not publish(b"8")
    with pytest.raises(ValueError, match="does not match any"):
        mapping.subscribe("stock-[id=7]")


def test_one_mapping_of_fields_is_shared_by_all_items() -> None:
    mapping = RecordMapping(connection(map__t__to="a,b"))
    mapping.subscribe("a")
    mapping.subscribe("b")
    seen: list[int] = []

    class Identities(Listening):
        def publish(self, item: str, fields: object, *, snapshot: bool = False) -> None:
            seen.append(id(fields))

    mapping.publish(mapping.record(Message(b"x")), Identities(), lambda _: None)
    assert len(seen) == 2
    assert len(set(seen)) == 1


def test_fields_are_known_beforehand_unless_there_is_a_wildcard() -> None:
    assert RecordMapping(connection()).field_names == ("v",)
    wild = RecordMapping(connection(**{"field__*": "#{HEADERS.*}", "field__v": "#{VALUE}"}))
    assert wild.field_names == ()


@pytest.mark.parametrize("part", ["key", "value"])
def test_schemas_that_cannot_be_read_are_told_with_their_parameter(tmp_path: Path, part: str) -> None:
    for kind, more in (
        ("AVRO", {}),
        ("PROTOBUF", {"protobuf__message__type": "M"}),
        ("JSON", {}),
        ("LONG", {}),
    ):
        given = {"type": kind, "schema__path": str(tmp_path / "none"), **more}
        settings = connection(
            **{f"record__{part}__evaluator__{name}": value for name, value in given.items()},
            field__v="#{TOPIC}",
        )
        with pytest.raises(BadInput, match=rf"record\.{part}\.evaluator\.schema\.path: .*none: "):
            RecordMapping(settings)


def test_stores_of_the_registry_are_told_with_their_parameter() -> None:
    settings = connection(
        schema__registry__url="https://127.0.0.1:1",
        schema__registry__confluent__encryption__truststore__path="none",
    )
    with pytest.raises(
        BadInput, match=r"schema\.registry\.confluent\.encryption\.truststore\.path: none: cannot"
    ):
        RecordMapping(settings)


def test_only_evaluators_with_a_registry_need_a_thread() -> None:
    assert not RecordMapping(connection()).blocking
    settings = connection(
        record__value__evaluator__type="AVRO",
        record__value__evaluator__schema__registry__enable="true",
        schema__registry__url="http://127.0.0.1:1",
        field__v="#{VALUE.a}",
    )
    assert RecordMapping(settings).blocking
