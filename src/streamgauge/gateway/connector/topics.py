"""Which topics a connection reads: those that are named, or those whose names fit a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable

_INTERNAL = "__"


class TopicSelection:
    def __init__(self, names: Iterable[str], *, patterns: bool) -> None:
        self.names = tuple(names)
        self._patterns = [re.compile(name) for name in self.names] if patterns else None

    @property
    def may_grow(self) -> bool:
        """Whether topics that are made later can belong to it."""
        return self._patterns is not None

    def among(self, existing: Iterable[str]) -> list[str]:
        """Those of the existing topics that belong to it, sorted. Patterns pass Kafka's own topics over."""
        if self._patterns is None:
            return sorted(set(self.names) & set(existing))
        return sorted(
            topic
            for topic in existing
            if not topic.startswith(_INTERNAL) and any(p.fullmatch(topic) for p in self._patterns)
        )

    def missing(self, existing: Iterable[str]) -> list[str]:
        """Named topics that are not there."""
        return [] if self._patterns is not None else sorted(set(self.names) - set(existing))

    def __str__(self) -> str:
        return ", ".join(self.names)
