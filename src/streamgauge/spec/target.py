"""A target: which driver, with which settings, against which system."""

from __future__ import annotations

import re
from typing import Any

from pydantic import SerializeAsAny, field_validator, model_validator

from streamgauge.spec.model import SpecModel
from streamgauge.spec.reach import NativeSettings
from streamgauge.spec.secrecy import in_the_clear, texts_of
from streamgauge.spec.system import SystemSpec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class Target(SpecModel):
    """Driver + settings. `client` goes to the client library as it is."""

    name: str
    driver: str
    settings: dict[str, Any] = {}
    """The driver's own settings; the driver checks them."""
    client: NativeSettings = {}
    """Native client settings, for producers and consumers alike."""
    producer_client: NativeSettings = {}
    """Native settings for producers only."""
    consumer_client: NativeSettings = {}
    """Native settings for consumers only."""
    system: SerializeAsAny[SystemSpec] | None = None

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a plain name; allowed: letters, digits, '_', '.', '-'")
        return name

    @model_validator(mode="after")
    def _secrets_by_reference(self) -> Target:
        """A secret written out would end up in the run folder, so it is refused."""
        for part, values in self.written_settings().items():
            for field, name, value in texts_of(part, "", values):
                if in_the_clear(name, value):
                    raise ValueError(
                        f"{field} holds a secret in the clear; "
                        "write ${NAME} and set NAME in the environment"
                    )
        return self

    def written_settings(self) -> dict[str, dict[str, Any]]:
        """All that is passed on to somebody else as it was written, by field."""
        parts = {
            "settings": self.settings,
            "client": self.client,
            "producer_client": self.producer_client,
            "consumer_client": self.consumer_client,
        }
        return parts if self.system is None else {**parts, "system.properties": self.system.properties}
