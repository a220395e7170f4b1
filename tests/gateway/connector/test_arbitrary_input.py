"""Whatever comes, in a file, in a name or in a record, is refused with words of ours or read."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration import load_configuration
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.expressions import parse, parse_wrapped
from streamgauge.gateway.connector.items import parse_item, parse_template
from streamgauge.gateway.connector.mapping import RecordMapping
from tests.proof import PROOF

from .evaluators.protobuf_samples import a_stock, descriptor_set
from .evaluators.test_avro_records import SCHEMA, encoded
from .fakes import Listening, Message, connection

pytestmark = pytest.mark.proof
EXAMPLES = 5_000 if PROOF else 300
MANY = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WORDS = st.text(st.sampled_from("KEYVALUE.[]'0a*#{}-=, ü"), max_size=24)
CUT_OR_BENT = {"JSON": b'{"a": {"b": [1, null, 0.1]}, "c": true}', "KVP": b"a=1,b=2"}


@pytest.mark.parametrize("read", [parse, parse_wrapped, parse_item, parse_template])
@MANY
@given(text=st.one_of(WORDS, st.text(max_size=24)))
def test_names_and_expressions(read: object, text: str) -> None:
    with suppress(ValueError):
        read(text)  # type: ignore[operator]


@MANY
@given(text=st.one_of(WORDS, st.text(max_size=40)))
def test_an_expression_reads_back_as_it_was_written(text: str) -> None:
    with suppress(ValueError):
        assert parse(str(parse(text))) == parse(text)


@pytest.fixture(scope="module")
def mappings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RecordMapping]:
    folder = tmp_path_factory.mktemp("schemas")
    (folder / "s.avsc").write_text(json.dumps(SCHEMA))
    (folder / "s.desc").write_bytes(descriptor_set())
    value = "record__value__evaluator__"
    given_of: dict[str, dict[str, str]] = {
        "STRING": {"field__v": "#{VALUE}"},
        "LONG": {"field__v": "#{VALUE}"},
        "UUID": {"field__v": "#{VALUE}"},
        "JSON": {},
        "KVP": {},
        "AVRO": {value + "schema__path": str(folder / "s.avsc")},
        "PROTOBUF": {
            value + "schema__path": str(folder / "s.desc"),
            value + "protobuf__message__type": "Stock",
        },
    }
    made = {}
    for kind, more in given_of.items():
        wild = {} if "field__v" in more else {"field__*": "#{VALUE.*}", "field__k": "#{KEY}"}
        settings_ = connection(**{value + "type": kind, **wild, **more})
        assert isinstance(settings_, ConnectionSettings)
        made[kind] = RecordMapping(settings_)
        made[kind].subscribe("i")
    return made


@pytest.mark.parametrize("kind", ["STRING", "LONG", "UUID", "JSON", "KVP", "AVRO", "PROTOBUF"])
@MANY
@given(data=st.data())
def test_records(mappings: dict[str, RecordMapping], kind: str, data: st.DataObject) -> None:
    whole = {"AVRO": encoded(), "PROTOBUF": a_stock().SerializeToString(), **CUT_OR_BENT}.get(
        kind, b"12345678"
    )
    cut = st.integers(0, len(whole)).map(lambda length: whole[:length])
    bent = st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)).map(
        lambda at: whole[: at[0]] + bytes([at[1]]) + whole[at[0] + 1 :]
    )
    value = data.draw(st.one_of(st.none(), st.binary(max_size=200), cut, bent))
    listener, mapping = Listening(), mappings[kind]
    with suppress(ExtractionFailed):
        mapping.publish(
            mapping.record(Message(value, data.draw(st.binary(max_size=5)))), listener, lambda _: None
        )
    for _, fields in listener.updates():
        assert all(text is None or isinstance(text, str) for text in fields.values())


def test_json_that_is_nested_very_deep() -> None:
    mapping = RecordMapping(connection(record__value__evaluator__type="JSON", **{"field__*": "#{VALUE.*}"}))
    mapping.subscribe("i")
    for depth in (200, 300, 1000, 100_000):
        text = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        with suppress(ExtractionFailed):
            mapping.publish(mapping.record(Message(text)), Listening(), lambda _: None)


@MANY
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_files(tmp_path: Path, content: bytes) -> None:
    for head in (b"", b'<adapters_conf id="x"><data_provider>', b"connections:\n  a:\n    "):
        path = tmp_path / "file"
        path.write_bytes(head + content)
        with suppress(BadInput):
            load_configuration(path)
