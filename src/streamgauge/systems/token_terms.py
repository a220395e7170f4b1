"""What the token endpoint and those who start and ask it have agreed on; nothing is loaded for it."""

from __future__ import annotations

MODULE = "streamgauge.systems.token_endpoint"
CLIENTS_FILE = "token-clients.json"
"""Client id → its secret."""
PLACE_FILE = "token-endpoint.url"
ISSUER = "streamgauge-rehearsal"
AUDIENCE = "kafka"
TOKEN_PATH, KEYS_PATH = "/token", "/keys"
