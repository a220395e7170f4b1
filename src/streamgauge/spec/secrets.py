"""Secrets: `${NAME}` in a target's client settings, filled in where it is used and nowhere else.

The plan and everything in the run folder keep the reference. The filled-in target travels to the
agents in memory only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from streamgauge.core.errors import BadInput
from streamgauge.spec.target import Target

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PARTS = ("client", "producer_client", "consumer_client")


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

    def filled(value: object) -> object:
        if not isinstance(value, str):
            return value
        return _REFERENCE.sub(lambda match: environment[match[1]], value)

    parts = {part: {k: filled(v) for k, v in getattr(target, part).items()} for part in _PARTS}
    return target.model_copy(update=parts)


def strike_out(text: str, environment: Mapping[str, str]) -> str:
    """The text without any of the values that `fill_in` put in."""
    for secret in sorted(environment.values(), key=len, reverse=True):
        if len(secret) > 2:
            text = text.replace(secret, "***")
    return text


def _references(target: Target) -> Iterator[tuple[str, str]]:
    for part in _PARTS:
        for key, value in getattr(target, part).items():
            if isinstance(value, str):
                for name in _REFERENCE.findall(value):
                    yield f"{part}.{key}", name
