"""Settings as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.report.quantities import NOTHING


def value_text(value: Any) -> str:
    """Lists and mappings on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={value_text(item)}" for key, item in value.items()) or NOTHING
    if isinstance(value, list):
        return ", ".join(value_text(item) for item in value) or NOTHING
    if isinstance(value, float):
        return f"{value:.10g}"
    return NOTHING if value is None else str(value)


def by_path(content: Mapping[str, Any], between: str, before: str = "") -> dict[str, Any]:
    """Nested mappings as one, by the names that lead to a value."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            found |= by_path(value, between, f"{before}{name}{between}")
        else:
            found[f"{before}{name}"] = value
    return found
