"""The demo page: what a browser gets from the gateway besides updates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamgauge.gateway.connector.configuration import GatewayConfiguration
from streamgauge.gateway.connector.connection_settings import WILDCARD, ConnectionSettings
from streamgauge.gateway.demo.web_client import web_client
from streamgauge.gateway.server.server import Page

_HERE = Path(__file__).parent


def demo_pages(configuration: GatewayConfiguration) -> dict[str, Page]:
    """Path → page. Raises WebClientUnavailable when the client's script cannot be had."""
    return {
        "/": Page("text/html; charset=utf-8", (_HERE / "demo.html").read_bytes()),
        "/demo.css": Page("text/css; charset=utf-8", (_HERE / "demo.css").read_bytes()),
        "/demo.js": Page("text/javascript; charset=utf-8", (_HERE / "demo.js").read_bytes()),
        "/demo.json": Page("application/json", json.dumps(_described(configuration)).encode()),
        "/lightstreamer.js": Page("text/javascript; charset=utf-8", web_client()),
    }


def _described(configuration: GatewayConfiguration) -> dict[str, Any]:
    """What the page offers to choose from: names only, nothing of where Kafka is."""
    return {
        "adapterSet": configuration.adapter_set,
        "guarded": configuration.server.users is not None,
        "connections": {
            name: _connection(settings)
            for name, settings in configuration.connections.items()
            if settings.enable
        },
    }


def _connection(settings: ConnectionSettings) -> dict[str, Any]:
    commands = settings.evaluate_as_command or settings.auto_command
    fields = [name for name in settings.fields if name != WILDCARD]
    if commands and "command" not in fields:
        fields.append("command")
    return {
        "items": sorted(
            {_hint(t.prefix, t.names) for templates in settings.routes.values() for t in templates}
        ),
        "fields": fields,
        "mode": "COMMAND" if commands else "MERGE",
    }


def _hint(prefix: str, names: tuple[str, ...]) -> str:
    return f"{prefix}-[{','.join(f'{name}=…' for name in names)}]" if names else prefix
