"""How a parameter's value is written: in XML all is text; YAML has numbers, lists, true and false, too."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, SecretStr

from streamgauge.core.errors import BadInput

_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s,:]+):(\d{1,5})")


class BadParameter(BadInput):
    """A parameter whose value turned out wrong only when it was used, e.g. a file that is not there."""

    def __init__(self, parameter: str, words: str) -> None:
        super().__init__(f"{parameter}: {words}")
        self.parameter, self.words = parameter, words


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError(f"must be true or false, not {value!r}")


def _list(value: Any) -> list[str]:
    parts = (
        value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    )
    return [_text(part) for part in parts]


def _addresses(value: Any) -> str:
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
    for part in parts:
        match = _HOST_PORT.fullmatch(str(part))
        if match is None or not 0 < int(match[2]) < 65_536:
            raise ValueError(f"must be host:port[,host:port …], not {part!r}")
    return ",".join(map(str, parts))


def _one_character(value: Any) -> str:
    if isinstance(value, str) and len(value) == 1:
        return value
    raise ValueError(f"must be one character, not {value!r}")


def _text(value: Any) -> str:
    """YAML takes a bare 42 for a number; a name may well look like one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"must be text, not {value!r}")
    text = str(value).strip()
    if not text:
        raise ValueError("must not be empty")
    return text


def _secret(value: Any) -> str:
    """Whatever is wrong with it, it is not shown."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("must be text")
    return str(value)


Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(_text)]
Secret = Annotated[SecretStr, BeforeValidator(_secret)]
Addresses = Annotated[str, BeforeValidator(_addresses)]
Character = Annotated[str, BeforeValidator(_one_character)]
Names = Annotated[tuple[str, ...], BeforeValidator(_list)]

OLD_NAMES = {
    "enabled": "enable",
    "key.evaluator.type": "record.key.evaluator.type",
    "key.evaluator.schema.path": "record.key.evaluator.schema.path",
    "key.evaluator.schema.registry.enabled": "record.key.evaluator.schema.registry.enable",
    "key.evaluator.schema.registry.enable": "record.key.evaluator.schema.registry.enable",
    "value.evaluator.type": "record.value.evaluator.type",
    "value.evaluator.schema.path": "record.value.evaluator.schema.path",
    "value.evaluator.schema.registry.enabled": "record.value.evaluator.schema.registry.enable",
    "value.evaluator.schema.registry.enable": "record.value.evaluator.schema.registry.enable",
    "fields.map.non.scalar.values": "fields.map.non.scalar.values.enable",
    "encryption.enabled": "encryption.enable",
    "encryption.hostname.verification": "encryption.hostname.verification.enable",
    "encryption.keystore.enabled": "encryption.keystore.enable",
    "authentication.enabled": "authentication.enable",
    "authentication.gssapi.use.key.tab": "authentication.gssapi.key.tab.enable",
    "authentication.gssapi.key.tab": "authentication.gssapi.key.tab.path",
    "authentication.gssapi.store.key": "authentication.gssapi.store.key.enable",
    "authentication.gssapi.pricipal": "authentication.gssapi.principal",
    "authentication.gssapi.use.ticket.cache": "authentication.gssapi.ticket.cache.enable",
}
"""Spellings of the connector's first releases, and one its README still has wrong."""

_OLD_PREFIXES = (
    ("schema.registry.encryption.", "schema.registry.confluent.encryption."),
    ("schema.registry.basic.", "schema.registry.confluent.basic."),
)

ONLY_IN_A_JVM = re.compile(
    r"(?:schema\.registry\.(?:confluent\.)?)?encryption\."
    r"(?:provider|engine\.factory\.class|keymanager\.algorithm|trustmanager\.algorithm"
    r"|secure\.random\.implementation|security\.providers)"
)
"""Parameters that choose parts of a JVM, of which there is none here."""


def present_name(name: str) -> str:
    """The name a parameter has today."""
    for old, new in _OLD_PREFIXES:
        if name.startswith(old):
            name = new + name.removeprefix(old)
    return OLD_NAMES.get(name, name)
