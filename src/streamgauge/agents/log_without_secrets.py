"""The log of a process that holds secrets."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from streamgauge.spec.secrets import strike_out


class LogWithoutSecrets(logging.Formatter):
    """Client libraries log what they were given, and the log lies in the run folder."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._environment: Mapping[str, str] = {}
        handler = logging.StreamHandler()
        handler.setFormatter(self)
        logging.basicConfig(level=logging.WARNING, handlers=[handler])

    def follow(self, environment: Mapping[str, str], *, debug: bool) -> None:
        """`environment`: what the `${NAME}`s stand for, to be struck out from now on."""
        self._environment = environment
        logging.getLogger().setLevel(logging.DEBUG if debug else logging.WARNING)

    def format(self, record: logging.LogRecord) -> str:
        return strike_out(super().format(record), self._environment)
