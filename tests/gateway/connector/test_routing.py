from __future__ import annotations

import sys

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.evaluators.json_records import JsonEvaluator
from streamgauge.gateway.connector.evaluators.scalars import ScalarEvaluator
from streamgauge.gateway.connector.items import Template, parse_template
from streamgauge.gateway.connector.records import Compiler, Record
from streamgauge.gateway.connector.routing import Routes

from .fakes import Message

KEY, VALUE = ScalarEvaluator("STRING"), JsonEvaluator()


def routes(topics: dict[str, list[str]], patterns: bool = False) -> Routes:
    templates: dict[str, list[Template]] = {
        t: [parse_template(n) for n in names] for t, names in topics.items()
    }
    return Routes(templates, Compiler(KEY, VALUE, non_scalars=False), topics_are_patterns=patterns)


def record(value: bytes | None = b"{}", key: bytes | None = b"k", topic: str = "user") -> Record:
    return Record(Message(value, key, topic), KEY, VALUE)


def test_filtered_routing_by_several_templates() -> None:
    found = routes({"user": ["user-#{firstName=VALUE.name,lastName=VALUE.surname}", "user-#{age=VALUE.age}"]})
    for item in ("user-[firstName=James,lastName=Kirk]", "user-[age=45]", "user-[age=37]"):
        found.add(item)
    kirk = record(b'{"name": "James", "surname": "Kirk", "age": 37}')
    scotty = record(b'{"name": "Montgomery", "surname": "Scotty", "age": 45}')
    uhura = record(b'{"name": "Nyota", "surname": "Uhura", "age": 37}')
    assert list(found.items_of(kirk)) == ["user-[firstName=James,lastName=Kirk]", "user-[age=37]"]
    assert list(found.items_of(scotty)) == ["user-[age=45]"]
    assert list(found.items_of(uhura)) == ["user-[age=37]"]


def test_one_to_many_and_many_to_one() -> None:
    found = routes({"a": ["one", "two"], "b": ["one"]})
    found.add("one")
    found.add("two")
    assert list(found.items_of(record(topic="a"))) == ["one", "two"]
    assert list(found.items_of(record(topic="b"))) == ["one"]
    assert list(found.items_of(record(topic="c"))) == []


def test_what_fits_no_template_is_refused() -> None:
    found = routes({"t": ["a-#{x=KEY,y=PARTITION}", "plain"]})
    for bad in ("a", "a-[x=1]", "a-[x=1,y=2,z=3]", "b-[x=1,y=2]", "plain-[x=1]", "other"):
        with pytest.raises(ValueError, match="does not match any"):
            found.add(bad)
    found.add("a-[y=0,x=k]")
    assert len(found) == 1


def test_spellings_of_one_item_all_get_its_records() -> None:
    found = routes({"user": ["a-#{x=KEY,y=PARTITION}"]})
    found.add("a-[x=k,y=0]")
    found.add("a-[y=0,x=k]")
    assert sorted(found.items_of(record())) == ["a-[x=k,y=0]", "a-[y=0,x=k]"]
    found.remove("a-[x=k,y=0]")
    assert list(found.items_of(record())) == ["a-[y=0,x=k]"]
    found.remove("a-[y=0,x=k]")
    found.remove("a-[y=0,x=k]")
    assert list(found.items_of(record())) == []
    assert len(found) == 0


def test_a_value_with_a_comma_is_not_taken_for_two_parameters() -> None:
    found = routes({"user": ["a-#{x=KEY}", "a-#{x=KEY,y=PARTITION}"]})
    found.add("a-[x=1,y=2]")
    assert list(found.items_of(record(key=b"1,y=2"))) == []


def test_null_belongs_to_no_item() -> None:
    found = routes({"user": ["a-#{x=KEY}", "b-#{x=KEY,y=PARTITION}"]})
    found.add("a-[x=null]")
    found.add("b-[x=null,y=0]")
    assert list(found.items_of(record(key=None))) == []


def test_an_item_is_there_once_when_two_templates_lead_to_it() -> None:
    found = routes({"user": ["a-#{x=KEY}", "a-#{x=TOPIC}"]})
    found.add("a-[x=user]")
    assert list(found.items_of(record(key=b"user"))) == ["a-[x=user]"]
    assert list(found.items_of(record(key=b"other"))) == ["a-[x=user]"]


def test_patterns_of_topics_must_fit_as_a_whole() -> None:
    found = routes({r"sensor_\d+": ["s"], "sensor.*": ["all"]}, patterns=True)
    found.add("s")
    found.add("all")
    assert list(found.items_of(record(topic="sensor_12"))) == ["s", "all"]
    assert list(found.items_of(record(topic="sensor_x"))) == ["all"]
    assert list(found.items_of(record(topic="my_sensor_1"))) == []


def test_nothing_is_decoded_for_a_template_that_nobody_subscribed() -> None:
    found = routes({"user": ["a-#{x=VALUE.x}", "b-#{x=KEY}"]})
    found.add("b-[x=k]")
    assert list(found.items_of(record(b"no json"))) == ["b-[x=k]"]
    found.add("a-[x=1]")
    with pytest.raises(ExtractionFailed, match="VALUE: not JSON"):
        found.items_of(record(b"no json"))


def test_the_work_for_a_record_does_not_depend_on_how_many_items_are_subscribed() -> None:
    def calls(items: int) -> int:
        found = routes({"user": ["a-#{x=KEY}"]})
        for number in range(items):
            found.add(f"a-[x={number}]")
        looked_up = record(key=b"7")
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            assert list(found.items_of(looked_up)) == ["a-[x=7]"]
        finally:
            sys.setprofile(None)
        return counted

    assert calls(10) == calls(10_000)
