"""Where and with what it ran: environment.json as tables, whatever it holds."""

from __future__ import annotations

from typing import Any

from streamgauge.core.units import format_bytes
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.settings_text import by_path, value_text


def environment_section(environment: dict[str, Any]) -> Markup:
    plain = {name: value for name, value in environment.items() if not isinstance(value, dict)}
    nested = {name: value for name, value in environment.items() if isinstance(value, dict) and value}
    return tag(
        "section",
        tag("h2", "Environment and settings in force"),
        _table("Machine", plain) if plain else tag("p", "Nothing is known about it.", class_="note"),
        *(_fold(name, value) for name, value in nested.items()),
        class_="environment",
    )


def _fold(name: str, content: dict[str, Any]) -> Markup:
    title = name.replace("_", " ").capitalize()
    # Client settings have dots of their own.
    flat = by_path(content, " › ")
    return tag("details", tag("summary", f"{title} ({len(flat)})"), _table(title, flat), class_="fold")


def _table(caption: str, content: dict[str, Any]) -> Markup:
    rows = [(name, tag("td", _text(name, value), class_="text")) for name, value in content.items()]
    return data_table(
        caption, ("name", tag("th", "value", scope="col", class_="text")), rows, class_="settings"
    )


def _text(name: str, value: Any) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return format_bytes(value)
    return value_text(value)
