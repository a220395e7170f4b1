"""The topics that a load or a comparison uses."""

from __future__ import annotations

import re
from typing import Any

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from streamgauge.spec.model import Count, SpecModel

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,200}")


class Topics(SpecModel):
    """The topics to use. One that exists is used as it is; any other is created, and deleted afterwards."""

    name: str = "streamgauge"
    """Several topics are `name-0`, `name-1` …"""
    count: Count = Field(default=1, ge=1)
    """How many topics."""
    partitions: Count = Field(default=1, ge=1)
    replicas: Count = Field(default=1, ge=1)
    config: dict[str, str] = {}
    """Settings of the topics, by the broker's own names: `retention.bytes`."""
    keep: bool = False
    """Do not delete the topics afterwards."""
    own_names: bool = True
    """Run and case are part of the names, so that no case meets another's topics or what it left behind.
    Unless said otherwise, only a `name` that was given is taken as it is."""

    @model_validator(mode="before")
    @classmethod
    def _own_unless_named(cls, given: Any) -> Any:
        if isinstance(given, dict) and "name" in given and "own_names" not in given:
            return {**given, "own_names": False}
        return given

    @model_serializer(mode="wrap")
    def _said_with_the_name(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is left out as usual would be read as unusual beside a name."""
        content: dict[str, Any] = serialize(self)
        return {**content, "own_names": self.own_names} if "name" in content else content

    @field_validator("name")
    @classmethod
    def _legal(cls, name: str) -> str:
        if not _TOPIC.fullmatch(name) or name in (".", ".."):
            raise ValueError(
                f"{name!r} is no topic name; allowed: letters, digits, '.', '_', '-', at most 200"
            )
        return name
