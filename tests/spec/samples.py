"""A workload as plain mappings, and ways to change it."""

from __future__ import annotations

import copy
from typing import Any

TARGET: dict[str, Any] = {"name": "kafka", "driver": "kafka_confluent"}
WORKLOAD: dict[str, Any] = {"targets": [TARGET], "load": {"messages": 1000}}

GONE = object()
"""As a value: the field is left out."""


def changed(content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A copy with fields set by path; `__` stands between the names: `load__message__size=5`."""
    result = copy.deepcopy(content)
    for path, value in fields.items():
        *outer, last = path.split("__")
        place: Any = result
        for name in outer:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return result
