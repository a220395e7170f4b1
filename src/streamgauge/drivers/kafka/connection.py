"""How to reach a secured cluster, in librdkafka's words: topics are made through it for every driver."""

from __future__ import annotations

from typing import Any

from streamgauge.drivers.kafka.security import PYTHON_NAMES, Security
from streamgauge.drivers.kafka.settings import Library
from streamgauge.spec.target import Target


def login(library: Library, user: str, password: str) -> dict[str, Any]:
    """Client settings to log in with, in the library's own words."""
    return Security("SASL_PLAINTEXT", "PLAIN", user, password).words(library)


def for_librdkafka(library: Library, target: Target) -> dict[str, Any]:
    """Of a target's `client:` settings, those that say how to connect."""
    client = dict(target.client)
    if library == "librdkafka":
        return client
    if library == "kafka-clients":
        return Security.of(client, f"target {target.name}: client").words("librdkafka")
    found = {new: client[old] for old, new in PYTHON_NAMES.items() if old in client}
    checks = found.pop("ssl.endpoint.identification.algorithm", True)
    return found if checks else {**found, "ssl.endpoint.identification.algorithm": "none"}
