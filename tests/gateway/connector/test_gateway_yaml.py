from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration_draft import Draft
from streamgauge.gateway.connector.gateway_yaml import read_gateway_yaml

PATH = Path("gateway.yaml")


def read(text: str) -> Draft:
    return read_gateway_yaml(PATH, text.encode())


def test_names_may_be_nested_at_any_dot() -> None:
    draft = read(
        """
adapter_set: Set
server:
  max_delay_millis: 30
  limits:
    sessions: 10
connections:
  One:
    bootstrap.servers: a:1
    record:
      value.evaluator: {type: JSON}
      consume.from: EARLIEST
    map:
      LTest.to: [a, b]
      other: {to: c}
    group.id: 42
"""
    )
    assert (draft.adapter_set.value, draft.adapter_set.line) == ("Set", 2)
    assert {n: (e.value, e.line) for n, e in draft.server.entries.items()} == {
        "max_delay_millis": (30, 4),
        "limits.sessions": (10, 6),
    }
    assert {n: (e.value, e.line) for n, e in draft.connections["One"].entries.items()} == {
        "bootstrap.servers": ("a:1", 9),
        "record.value.evaluator.type": ("JSON", 11),
        "record.consume.from": ("EARLIEST", 12),
        "map.LTest.to": (["a", "b"], 14),
        "map.other.to": ("c", 15),
        "group.id": (42, 16),
    }
    assert read("connections: {a: {b: 1}}").adapter_set.value == "KafkaConnector"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ":1: must be a mapping with adapter_set, server, connections"),
        ("- a", ":1: must be a mapping"),
        ("a: [", ":1: is not valid YAML"),
        ("a:\n\tb: 1", ":2: is not valid YAML"),
        ("\nconnection: {}", ":2: connection: is not known here; allowed: adapter_set, server, connections"),
        ("connections: 1", ":1: connections: must be a mapping"),
        ("server: 1\nconnections: {a: {b: 1}}", ":1: server: must be a mapping"),
        ("connections:\n  a:\n", ":2: connections.a: must be a mapping"),
        ("connections: {}", ":1: connections: at least one is required"),
        ("server: {}", ":1: connections: at least one is required"),
        ("connections:\n  a:\n    b: 1\n    b: 2", ":4: b: is there twice, first in line 3"),
        ("connections:\n  a:\n    b.c: 1\n    b:\n      c: 2", ":5: b.c: is there twice, first in line 3"),
        ("connections:\n  a: {b: 1}\n  a: {b: 1}", ":3: a: is there twice, first in line 2"),
        ("connections:\n  a:\n    b:", ":3: b: must be text, a number, true or false"),
        ("connections:\n  a:\n    b: 2026-13-45", ":3: b: must be text"),
        ("connections:\n  a:\n    b: 2026-01-02", ":3: b: must be text"),
        ("connections:\n  a:\n    b: [[1]]", ":3: b: must be a plain value"),
        ("connections:\n  a:\n    ? [x]\n    : 1", ":3: a name must be plain text"),
        ("connections:\n  a:\n    b: ${NOT_SET_ANYWHERE}", ":3: b: the environment has no NOT_SET_ANYWHERE"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(text)
    assert says in str(refused.value)
    assert str(refused.value).startswith("gateway.yaml:")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(BadInput, match="is not UTF-8 text"):
        read_gateway_yaml(PATH, b"a: \xff")
    with pytest.raises(BadInput, match="is not valid YAML"):
        read_gateway_yaml(PATH, b"a: \x00")


def test_secrets_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOPIC", "x")
    draft = read("connections:\n  a:\n    map.t.to: ['${A_TOPIC}-1', '$A_TOPIC']")
    assert draft.connections["a"].entries["map.t.to"].value == ["x-1", "$A_TOPIC"]
