from __future__ import annotations

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed, Undecodable
from streamgauge.gateway.connector.evaluators.json_records import JsonEvaluator
from streamgauge.gateway.connector.evaluators.scalars import ScalarEvaluator
from streamgauge.gateway.connector.expressions import parse_wrapped
from streamgauge.gateway.connector.fields import FieldMapping
from streamgauge.gateway.connector.records import Compiler, Record

from .fakes import Message

KEY, VALUE = ScalarEvaluator("STRING"), JsonEvaluator()


def mapped(
    fields: dict[str, str], value: bytes | None, *, skip_failed: bool = False, wildcard: str | None = None
) -> dict[str, str | None]:
    mapping = FieldMapping(
        {name: parse_wrapped(text) for name, text in fields.items()},
        parse_wrapped(wildcard, wildcard=True) if wildcard is not None else None,
        Compiler(KEY, VALUE, non_scalars=False),
        skip_failed=skip_failed,
    )
    return mapping(Record(Message(value, b"k"), KEY, VALUE))


def test_fields_of_all_roots_together() -> None:
    fields = {"k": "#{KEY}", "a": "#{VALUE.a}", "o": "#{OFFSET}", "b": "#{VALUE.b[1]}"}
    assert mapped(fields, b'{"a": null, "b": [1, true]}') == {"k": "k", "a": None, "o": "0", "b": "true"}


def test_one_field_that_is_not_there_spoils_the_record() -> None:
    with pytest.raises(ExtractionFailed, match=r"VALUE\.x: field \[x\] not found"):
        mapped({"a": "#{VALUE.a}", "x": "#{VALUE.x}"}, b'{"a": 1}')


def test_unless_failed_mappings_are_skipped() -> None:
    fields = {"a": "#{VALUE.a}", "x": "#{VALUE.x}", "o": "#{VALUE.o}", "k": "#{KEY}"}
    assert mapped(fields, b'{"a": 1, "o": {}}', skip_failed=True) == {"a": "1", "k": "k"}


def test_a_value_that_does_not_parse_is_never_skipped() -> None:
    with pytest.raises(Undecodable):
        mapped({"a": "#{VALUE.a}", "k": "#{KEY}"}, b"{", skip_failed=True)
    with pytest.raises(Undecodable):
        mapped({"k": "#{KEY}"}, b"{", skip_failed=True, wildcard="#{VALUE.*}")


def test_a_wildcard_gives_all_parts_and_named_fields_win() -> None:
    value = b'{"a": 1, "b": {"c": [1]}, "d": "x"}'
    assert mapped({"d": "#{KEY}"}, value, wildcard="#{VALUE.*}") == {"a": "1", "b": '{"c":[1]}', "d": "k"}
    assert mapped({}, value, wildcard="#{VALUE.b.c.*}") == {"c[0]": "1"}
    with pytest.raises(ExtractionFailed, match=r"VALUE\.d\.\*: a plain value has no parts"):
        mapped({}, value, wildcard="#{VALUE.d.*}")
    assert mapped({"k": "#{KEY}"}, value, wildcard="#{VALUE.d.*}", skip_failed=True) == {"k": "k"}
