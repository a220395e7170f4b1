from __future__ import annotations

import pytest

from streamgauge.gateway.connector.evaluators import registered
from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.registered import RegisteredSchemas
from streamgauge.gateway.connector.schema_registry import SchemaRegistry

from ..registry_server import Registry, running


def schemas(registry: Registry) -> RegisteredSchemas[str]:
    return RegisteredSchemas(SchemaRegistry(registry.url, deadline_s=0.3), lambda schema: schema.text)


def test_a_failure_is_remembered_for_a_while_then_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Registry()) as registry:
        found = schemas(registry)
        found.prepare(1)
        found.prepare(1)
        assert len(registry.requests) == 1
        with pytest.raises(Undecodable, match=r"schema 1 is not to be had: schema registry at .*404"):
            found.get(1)
        monkeypatch.setattr(registered, "_FORGET_REFUSAL_S", 0.0)
        found._failed[1] = (found._failed[1][0], 0.0)
        registry.schemas[1] = {"schema": "late"}
        found.prepare(1)
        assert found.get(1) == "late"


def test_an_outage_is_forgotten_sooner_than_a_refusal() -> None:
    gone = Registry(url="http://127.0.0.1:1")
    found = schemas(gone)
    found.prepare(1)
    outage_until = found._failed[1][1]
    with running(Registry()) as registry:
        refused = schemas(registry)
        refused.prepare(1)
        assert refused._failed[1][1] > outage_until + 20
