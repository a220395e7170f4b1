"""Settings as people read them."""

from __future__ import annotations

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
