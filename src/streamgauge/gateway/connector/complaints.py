"""Warnings that would come for every record: the first is told, then one every so often, with a count."""

from __future__ import annotations

import logging
import time

_QUIET_S = 10.0


class Complaints:
    def __init__(self, logger: logging.Logger, subject: str, quiet_s: float = _QUIET_S) -> None:
        self._logger, self._subject, self._quiet_s = logger, subject, quiet_s
        self._told: dict[str, tuple[float, int]] = {}

    def tell(self, kind: str, what: str) -> None:
        """`kind` is what repeats; `what` is this time's words."""
        last, unsaid = self._told.get(kind, (float("-inf"), 0))
        now = time.monotonic()
        if now - last < self._quiet_s:
            self._told[kind] = (last, unsaid + 1)
            return
        more = f" (and {unsaid} more of the kind before it)" if unsaid else ""
        self._logger.warning("%s: %s%s", self._subject, what, more)
        self._told[kind] = (now, 0)
