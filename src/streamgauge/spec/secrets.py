"""Secrets: `${NAME}` in a target's settings, filled in where it is used and nowhere else.

The plan and everything in the run folder keep the reference. The filled-in target travels to the
agents in memory only; a run that is resumed takes what it stands for from the environment again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.spec.secrecy import REFERENCE, shown, struck_out, texts_of
from streamgauge.spec.target import Target


def environment_of(target: Target) -> dict[str, str]:
    """What the target refers to, from this process's environment; BadInput when something is not set."""
    found: dict[str, str] = {}
    for field, name in _references(target):
        if name not in os.environ:
            raise BadInput(
                f"target {target.name}: {field}: the environment has no {name}; set it: export {name}=…"
            )
        found[name] = os.environ[name]
    return found


def fill_in(target: Target, environment: Mapping[str, str]) -> Target:
    """The target with every `${NAME}` replaced. It is not to be written or shown."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [filled(item) for item in value]
        if not isinstance(value, str):
            return value
        return REFERENCE.sub(lambda match: environment[match[1]], value)

    parts: dict[str, Any] = {part: filled(values) for part, values in target.written_settings().items()}
    system, properties = target.system, parts.pop("system.properties", None)
    if system is not None:
        parts["system"] = system.model_copy(update={"properties": properties})
    return target.model_copy(update=parts)


def strike_out(text: str, environment: Mapping[str, str]) -> str:
    """The text without any of the values that `fill_in` put in, nor what else looks like a secret."""
    return struck_out(text, environment.values())


def shown_settings(settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Settings in force as they may be written down, part by part."""
    secrets = list(environment.values())

    def safe(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: safe(str(key), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [safe(name, item) for item in value]
        return shown(name, value, secrets) if isinstance(value, str) else value

    return {name: safe(name, value) for name, value in settings.items()}


def _references(target: Target) -> Iterator[tuple[str, str]]:
    for part, values in target.written_settings().items():
        for field, _, value in texts_of(part, "", values):
            for name in REFERENCE.findall(value):
                yield field, name
