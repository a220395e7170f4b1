"""Client settings in force, as rows: those that have a name across libraries, and all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from streamgauge.drivers.contract import SharedSetting
from streamgauge.families.compare.event_tables import ENGINE
from streamgauge.spec.secrecy import shown


class _Client(Protocol):
    def settings_in_force(self) -> dict[str, Any]: ...

    def shared_settings(self) -> list[SharedSetting]: ...


def settings_rows(
    side: str, role: str, client: _Client, environment: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Rows of the table `client_settings`; secrets are struck out."""
    about = {"side": side, "role": role}
    shared = client.shared_settings()
    for setting in shared:
        yield {
            **about,
            "is_shared": True,
            "name": setting.name,
            "native": setting.native,
            "value": None if setting.value is None else _text(setting.value),
            "note": setting.note,
        }
    named = {setting.native for setting in shared}
    for name, value in sorted(client.settings_in_force().items()):
        if name not in named and not callable(value):
            text = shown(name, _text(value), environment.values())
            yield {**about, "is_shared": False, "name": name, "native": name, "value": text, "note": ""}


def engine_row(side: str, engine: str, version: str) -> dict[str, Any]:
    """Which engine a library's loop runs on, and which version of the library it is."""
    return {
        "side": side,
        "role": ENGINE,
        "is_shared": False,
        "name": ENGINE,
        "native": None,
        "value": engine,
        "note": version,
    }


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"  # 5.0 and 5 are the same
    return str(value).lower() if isinstance(value, bool) else str(value)
