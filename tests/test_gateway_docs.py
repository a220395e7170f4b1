"""docs/gateway.md says what there is, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticUndefined

from streamgauge.gateway.connector.configuration import (
    GatewaySettings,
    load_configuration,
    parameter_names,
)
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.parameters import OLD_NAMES
from streamgauge.gateway.server.safety import Unsafe, UnsafeSettings

DOCS = Path(__file__).parent.parent / "docs"


def default_of(info: Any) -> str:
    value = info.default
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ({}, ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{','.join(value)}`" if isinstance(value, tuple) else f"`{value}`"


def table(model: Any) -> list[str]:
    """One row a parameter, as docs/gateway.md must have it."""
    rows = []
    for name, info in parameter_names(model).items():
        if not name.startswith("schema.registry.confluent.encryption."):
            rows.append(f"| `{name}` | {default_of(info)} | {info.description or ''} |")
    return rows


def test_every_parameter_is_described_with_its_default() -> None:
    text = (DOCS / "gateway.md").read_text()
    assert [row for row in table(ConnectionSettings) if row not in text] == []
    beginnings = [row.rsplit(" | ", 1)[0] + " | " for row in table(GatewaySettings)]
    assert [row for row in beginnings if row not in text] == []


def test_no_parameter_is_described_that_is_not_there() -> None:
    rows = re.findall(r"(?m)^\| `([^`]+)` \|.*\|.*\|$", (DOCS / "gateway.md").read_text())
    assert set(rows) <= {*parameter_names(ConnectionSettings), *parameter_names(GatewaySettings)}
    assert len(rows) == len(set(rows))


def test_everything_that_check_may_find_unsafe_is_told() -> None:
    text = (DOCS / "gateway.md").read_text().split("## Is it safe?")[1].split("\n## ")[0]
    assert [each for each in Unsafe if each not in text] == []
    assert f"exit code {UnsafeSettings.exit_code}" in text


def test_old_names_are_told() -> None:
    text = (DOCS / "gateway.md").read_text()
    assert [old for old in OLD_NAMES if f"`{old}`" not in text] == []


def test_the_two_examples_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "x")
    xml, yaml = (
        load_configuration(DOCS / "examples" / "gateway" / f) for f in ("adapters.xml", "gateway.yaml")
    )
    assert (xml.adapter_set, xml.server, xml.connections) == (yaml.adapter_set, yaml.server, yaml.connections)
