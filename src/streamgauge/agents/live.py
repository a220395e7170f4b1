"""What an agent tells while it runs: its counts and its newest latencies, once a second."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.agents.assignment import Assignment
from streamgauge.core.errors import BadInput

_KEPT = 8192


class Live:
    """A ring of the newest latencies; the sampler's thread publishes a summary now and then."""

    def __init__(self, assignment: Assignment) -> None:
        self._run, self._case, self._task = assignment.run_dir, assignment.case, assignment.task
        self._ring = np.zeros(_KEPT, np.int64)
        self._seen = 0
        self._counts: dict[int, int] = {}
        self.told: dict[str, Any] = {}
        """What else there is to tell."""

    @property
    def messages(self) -> int:
        return sum(self._counts.values())

    def count(self, number: int, messages: int) -> None:
        """So many messages of the producer or consumer with this number by now."""
        self._counts[number] = messages

    def observe(self, latencies_ns: NDArray[np.int64]) -> None:
        """Keep the newest; called once a batch."""
        newest = latencies_ns[-_KEPT:]
        place = self._seen % _KEPT
        room = min(len(newest), _KEPT - place)
        self._ring[place : place + room] = newest[:room]
        self._ring[: len(newest) - room] = newest[room:]
        self._seen += len(newest)

    def publish(self) -> None:
        """Best effort: the display is not worth failing for."""
        kept = self._ring[: min(self._seen, _KEPT)]
        content: dict[str, Any] = {
            "case": self._case,
            "kind": self._task.kind,
            "messages": self.messages,
            **self.told,
        }
        if len(kept):
            content["p99_ms"] = float(np.percentile(kept, 99)) / 1e6
        if self._run.is_quick:
            with contextlib.suppress(BadInput):
                self._run.write_json(self._run.live(self._task.agent), content)
