"""The source against a real broker."""

from __future__ import annotations

import asyncio
import io
import json
import struct
import threading
from pathlib import Path
from typing import Any

import fastavro
import pytest

from streamgauge.gateway.server.contract import SourceCounters

from .evaluators.protobuf_samples import a_stock, descriptor_set
from .fakes import Listening
from .kafka_side import Sender, assigned, new_topic, reading, run, source_of, until
from .registry_server import Registry, running

pytestmark = pytest.mark.broker

STOCK = {
    "type": "record",
    "name": "S",
    "fields": [{"name": "name", "type": "string"}, {"name": "p", "type": "float"}],
}


def avro(record: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, STOCK, record)
    return out.getvalue()


def fields_of(
    bootstrap: str, value: bytes | None, record: dict[str, Any], **parameters: Any
) -> dict[str, Any]:
    """What one record on a real topic comes out as."""
    topic = new_topic(bootstrap)
    Sender(bootstrap)(topic, value, **record)
    found: list[dict[str, Any]] = []

    async def test() -> None:
        source = source_of(bootstrap, topic, record__consume__from="EARLIEST", **parameters)
        async with reading(source) as listener:
            source.subscribe("i")
            await until(lambda: bool(listener.events))
            assert listener.events[0][0] == "update", listener.events
            found.append(listener.updates()[0][1])

    run(test())
    return {name: text.replace(topic, "TOPIC") if text else text for name, text in found[0].items()}


def test_json(kafka: str) -> None:
    assert fields_of(
        kafka,
        b'{"a": {"b": [1, {"c": null}]}, "n": 1.50}',
        {"key": b"k", "headers": [("h", b"1"), ("h", b"2")], "timestamp": 1_700_000_000_000},
        record__value__evaluator__type="JSON",
        field__key="#{KEY}",
        field__first="#{VALUE.a.b[0]}",
        field__null="#{VALUE.a.b[1]['c']}",
        field__n="#{VALUE.n}",
        field__h="#{HEADERS.h[1]}",
        field__topic="#{TOPIC}",
        field__partition="#{PARTITION}",
        field__offset="#{OFFSET}",
        field__ts="#{TIMESTAMP}",
    ) == {
        "key": "k",
        "first": "1",
        "null": None,
        "n": "1.5",
        "h": "2",
        "topic": "TOPIC",
        "partition": "0",
        "offset": "0",
        "ts": "1700000000000",
    }


def test_avro_with_a_schema_file(kafka: str, tmp_path: Path) -> None:
    (tmp_path / "s.avsc").write_text(json.dumps(STOCK))
    assert fields_of(
        kafka,
        avro({"name": "Anduct", "p": 0.1}),
        {"key": struct.pack(">i", 7)},
        record__key__evaluator__type="INTEGER",
        record__value__evaluator__type="AVRO",
        record__value__evaluator__schema__path=str(tmp_path / "s.avsc"),
        field__key="#{KEY}",
        field__name="#{VALUE.name}",
        field__price="#{VALUE.p}",
    ) == {"key": "7", "name": "Anduct", "price": "0.1"}


def test_avro_with_the_registry(kafka: str) -> None:
    with running(Registry(schemas={9: {"schema": json.dumps(STOCK)}}, credentials="u:p")) as registry:
        assert fields_of(
            kafka,
            b"\0\0\0\0\x09" + avro({"name": "Anduct", "p": 0.1}),
            {},
            schema__registry__url=registry.url,
            schema__registry__confluent__basic__authentication__enable="true",
            schema__registry__confluent__basic__authentication__username="u",
            schema__registry__confluent__basic__authentication__password="p",
            record__value__evaluator__type="AVRO",
            record__value__evaluator__schema__registry__enable="true",
            **{"field__*": "#{VALUE.*}"},
        ) == {"name": "Anduct", "p": "0.1"}
        assert registry.requests == ["/schemas/ids/9"]


def test_protobuf(kafka: str, tmp_path: Path) -> None:
    (tmp_path / "s.desc").write_bytes(descriptor_set())
    assert fields_of(
        kafka,
        a_stock().SerializeToString(),
        {},
        record__value__evaluator__type="PROTOBUF",
        record__value__evaluator__schema__path=str(tmp_path / "s.desc"),
        record__value__evaluator__protobuf__message__type="Stock",
        field__name="#{VALUE.name}",
        field__kind="#{VALUE.kind}",
        field__x="#{VALUE.places[0].x}",
        field__tag="#{VALUE.tags['a']}",
    ) == {"name": "Anduct", "kind": "BOND", "x": "1.0", "tag": "A"}


def test_key_value_pairs(kafka: str) -> None:
    assert fields_of(
        kafka,
        b"QCOM@1.5;AAPL@2",
        {"key": b"a=1,b=2"},
        record__key__evaluator__type="KVP",
        record__value__evaluator__type="KVP",
        **{
            "record__value__evaluator__kvp__pairs__separator": ";",
            "record__value__evaluator__kvp__key-value__separator": "@",
        },
        field__b="#{KEY.b}",
        field__aapl="#{VALUE.AAPL}",
    ) == {"b": "2", "aapl": "2"}


def test_reading_begins_with_the_first_subscription_and_ends_with_the_last(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    def threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "consume-Q"]

    async def test() -> None:
        source = source_of(kafka, topic)
        async with reading(source) as listener:
            send(topic, b"before")
            assert threads() == []
            source.subscribe("i")
            await assigned(source)
            assert len(threads()) == 1
            send(topic, b"1", b"2")
            await until(lambda: len(listener.events) == 2)
            source.unsubscribe("i")
            await until(lambda: threads() == [])
            send(topic, b"3")
            source.subscribe("i")
            send(topic, b"4")
            await until(lambda: len(listener.events) == 4)
            assert [fields["v"] for _, fields in listener.updates()] == ["1", "2", "3", "4"]
        assert threads() == []

    run(test())


def test_what_comes_while_the_group_is_joined_is_read_and_what_came_unwatched_may_be_passed_over(
    kafka: str,
) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(kafka, topic, record__consume__unwatched__enable="false")
        async with reading(source) as listener:
            send(topic, b"before")
            source.subscribe("i")
            await until(lambda: bool(source._positions._ends))
            send(topic, b"1")
            await until(lambda: len(listener.events) == 1)
            source.unsubscribe("i")
            send(topic, b"unwatched")
            source.subscribe("i")
            await until(lambda: source._positions._passes_over and bool(source._positions._ends))
            send(topic, b"2")
            await until(lambda: len(listener.events) == 2)
            assert [fields["v"] for _, fields in listener.updates()] == ["1", "2"]

    run(test())


def test_changing_ones_mind_at_once_loses_and_repeats_nothing(kafka: str) -> None:
    topic, send = new_topic(kafka, partitions=2), Sender(kafka)

    async def test() -> None:
        source = source_of(kafka, topic, record__consume__from="EARLIEST")
        async with reading(source) as listener:
            for number in range(300):
                if number % 100 == 50:
                    source.unsubscribe("i")
                if number % 50 == 0:
                    source.subscribe("i")
                send(topic, str(number).encode())
                await asyncio.sleep(0)
            await until(lambda: len(listener.events) >= 300)
            await asyncio.sleep(0.3)
            assert sorted(int(fields["v"] or "") for _, fields in listener.updates()) == list(range(300))

    run(test())


def test_only_subscribed_items_and_in_the_order_of_the_partition(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(
            kafka,
            topic,
            **{"item-template__k": "k-#{key=KEY}", f"map__{topic}__to": "item-template.k"},
            record__consume__with__max__poll__records="7",
        )
        async with reading(source) as listener:
            source.subscribe("k-[key=3]")
            await assigned(source)
            for number in range(1000):
                send._producer.produce(topic, str(number).encode(), key=str(number % 10).encode())
            send(topic)
            await until(lambda: len(listener.events) == 100)
            assert [fields["v"] for _, fields in listener.updates()] == [str(n) for n in range(3, 1000, 10)]
            assert source.counters == SourceCounters(records_read=1000, records_mapped=100)

    run(test())


def test_a_group_that_was_given_goes_on_where_it_was(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)
    send(topic, b"old")

    async def part(expected: list[str], *more: bytes) -> None:
        source = source_of(kafka, topic, group=f"group-of-{topic}", record__consume__from="EARLIEST")
        async with reading(source) as listener:
            source.subscribe("i")
            send(topic, *more)
            await until(lambda: len(listener.events) >= len(expected))
            assert [fields["v"] for _, fields in listener.updates()] == expected

    run(part(["old", "1"], b"1"))
    send(topic, b"2")
    run(part(["2", "3"], b"3"))


def test_no_topic_at_all_ends_the_subscriptions_with_words(kafka: str) -> None:
    async def test() -> None:
        source = source_of(kafka, "not-there")
        async with reading(source) as listener:
            source.subscribe("i")
            await until(lambda: bool(listener.events))
            assert listener.events == [("failed", f"connection Q: there is no topic not-there at {kafka}")]

    run(test())


def test_a_missing_topic_among_others_is_warned_of(kafka: str, caplog: pytest.LogCaptureFixture) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(kafka, topic, **{f"map__{topic}__to": "i", "map__not-there__to": "i"})
        async with reading(source) as listener:
            source.subscribe("i")
            await assigned(source)
            send(topic, b"x")
            await until(lambda: bool(listener.updates()))

    with caplog.at_level("WARNING", "streamgauge.gateway"):
        run(test())
    assert f"connection Q: there is no topic not-there; reading {topic} only" in caplog.text


def test_patterns_find_topics_that_are_made_later_and_read_them_whole(
    kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.gateway.connector.consuming._LOOK_FOR_TOPICS_S", 0.2)
    first, send = new_topic(kafka), Sender(kafka)
    send(first, b"old")

    async def test() -> None:
        source = source_of(kafka, first, map__regex__enable="true", **{f"map__{first}(-\\d)?__to": "i"})
        async with reading(source) as listener:
            source.subscribe("i")
            await assigned(source)
            send(first, b"1")
            await until(lambda: len(listener.events) == 1)
            later = new_topic(kafka, name=f"{first}-2")
            send(later, b"2", b"3")
            await until(lambda: len(listener.events) == 3)
            send(first, b"4")
            await until(lambda: len(listener.events) == 4)
            assert [fields["v"] for _, fields in listener.updates()] == ["1", "2", "3", "4"]

    run(test())


def test_records_that_cannot_be_mapped_are_passed_over(kafka: str, caplog: pytest.LogCaptureFixture) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(kafka, topic, record__value__evaluator__type="JSON", field__v="#{VALUE.v}")
        async with reading(source) as listener:
            source.subscribe("i")
            await assigned(source)
            send(topic, b'{"v": 1}', b"no json", b'{"w": 1}', None, b'{"v": 2}')
            await until(lambda: len(listener.events) == 2)
            assert [fields["v"] for _, fields in listener.updates()] == ["1", "2"]
            assert (source.counters.records_read, source.counters.records_failed) == (5, 3)

    with caplog.at_level("WARNING", "streamgauge.gateway"):
        run(test())
    assert f"connection Q: record {topic}/0 at offset 1 passed over: VALUE: not JSON" in caplog.text
    assert caplog.text.count("passed over") == 1


def test_or_they_end_the_subscriptions_and_stay_where_they_are(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(
            kafka,
            topic,
            record__value__evaluator__type="JSON",
            field__v="#{VALUE.v}",
            record__extraction__error__strategy="FORCE_UNSUBSCRIPTION",
        )
        async with reading(source) as listener:
            source.subscribe("i")
            await assigned(source)
            send(topic, b'{"v": 1}', b'{"v": 2}', b"no json", b'{"v": 3}')
            await until(lambda: any(event[0] == "failed" for event in listener.events))
            assert [fields["v"] for _, fields in listener.updates()] == ["1", "2"]
            why = f"connection Q: record {topic}/0 at offset 2 cannot be mapped: VALUE: not JSON"
            assert listener.events[-1][1].startswith(why)
            source.unsubscribe("i")
            listener.events.clear()
            source.subscribe("i")
            await until(lambda: bool(listener.events))
            assert listener.events[0][0] == "failed"
            assert listener.events[0][1].startswith(why)

    run(test())


def test_command_mode_with_a_snapshot(kafka: str) -> None:
    topic, send = new_topic(kafka), Sender(kafka)

    async def test() -> None:
        source = source_of(
            kafka,
            topic,
            record__consume__from="EARLIEST",
            fields__evaluate__as__command__enable="true",
            field__key="#{KEY}",
            field__command="#{HEADERS.c}",
        )
        assert source.snapshot_available("i")
        assert source.modes("i") == {"COMMAND"}
        async with reading(source) as listener:
            source.subscribe("i")
            for key, command in (("a", b"ADD"), ("snapshot", b"EOS"), ("a", b"UPDATE"), ("snapshot", b"CS")):
                send(topic, b"", key=key, headers=[("c", command)])
            await until(lambda: len(listener.events) == 4)
            assert listener.events == [
                ("update", "i", {"key": "a", "command": "ADD"}, True),
                ("end", "i"),
                ("update", "i", {"key": "a", "command": "UPDATE"}, False),
                ("clear", "i"),
            ]

    run(test())


def test_a_loop_that_is_slow_is_not_flooded(kafka: str) -> None:
    """Kafka keeps what we cannot take: only a few batches are under way at once."""
    topic, send = new_topic(kafka), Sender(kafka)
    for _ in range(4):
        for number in range(2500):
            send._producer.produce(topic, str(number).encode())
        send(topic)

    async def test() -> None:
        source = source_of(
            kafka, topic, record__consume__from="EARLIEST", record__consume__with__max__poll__records="100"
        )

        class Slow(Listening):
            under_way = 0

        listener = Slow()
        source.start(listener)
        waiting = 0
        most_waiting = 0
        real = source._take

        def take(*arguments: Any) -> None:
            nonlocal waiting
            waiting -= 1
            real(*arguments)

        def on_loop(call: Any, *arguments: Any) -> None:
            nonlocal waiting, most_waiting
            waiting += 1
            most_waiting = max(most_waiting, waiting)
            source._loop.call_soon_threadsafe(take if call == real else call, *arguments)

        source._on_loop = on_loop  # type: ignore[method-assign]
        source.subscribe("i")
        while len(listener.events) < 10_000:
            await asyncio.sleep(0.02)
        assert most_waiting <= 5
        source.close()

    run(test())
