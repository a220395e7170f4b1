"""What a user may ask for of the live view; apart from the choice itself, since flags are told from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LiveMode(StrEnum):
    auto = "auto"
    on = "on"
    off = "off"


@dataclass(frozen=True)
class LiveWish:
    """What the user asked for."""

    mode: LiveMode = LiveMode.auto
    bootstrap: str | None = None
    """Kafka for the figures; None: the target's own."""
