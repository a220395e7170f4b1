"""What librdkafka itself can do: a C loop on the same library and settings that does nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import confluent_kafka
import numpy as np
from numpy.typing import NDArray

from bench.c_programs import build
from bench.kafka_tools import Ran
from bench.steady import WINDOW_S, steady_part
from bench.watched import WatchedCommand
from streamgauge.agents.malloc import WITH_TUNED_MALLOC
from streamgauge.core.c_programs import NO_COMPILER, compiler

_DEADLINE_S = 900


class BareLoop:
    """Built in a folder; `missing` says why it cannot be."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / "rdkafka_loop"
        self._library = _librdkafka()
        self.missing = ""
        if compiler() is None or self._library is None:
            self.missing = NO_COMPILER if compiler() is None else "librdkafka is no file of its own"
        else:
            build("rdkafka_loop", folder, "-ldl")

    def run(
        self,
        what: Literal["produce", "consume"],
        topic: str,
        size: int,
        messages: int,
        settings: Mapping[str, object],
    ) -> Ran:
        """By what it says has been acknowledged or received, window by window."""
        ran = self._run(what, topic, size, messages, settings)
        seen = [(at_s, int(line)) for at_s, line in ran.lines if line != "0"]
        return Ran.of(steady_part([at_s for at_s, _ in seen], [count for _, count in seen]), ran.watch)

    def reading_s(self, topic: str, size: int, messages: int, settings: Mapping[str, object]) -> float:
        """How long it takes to read them, from the first that came."""
        ran = self._run("consume", topic, size, messages, settings)
        before = [at_s for at_s, line in ran.lines if line == "0"]
        return ran.lines[-1][0] - (before[-1] if before else ran.lines[0][0] - WINDOW_S)

    def lag_ms(
        self, rate: float, topic: str, size: int, messages: int, settings: Mapping[str, object]
    ) -> NDArray[np.float64]:
        """How late each message of a paced load was handed over."""
        ran = self._run(f"{rate:g}", topic, size, messages, settings)
        return np.array([int(line) for _, line in ran.lines]) / 1e6

    def _run(
        self, what: str, topic: str, size: int, messages: int, settings: Mapping[str, object]
    ) -> WatchedCommand:
        words = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in settings.items()
        }
        return WatchedCommand(
            [
                *(str(self._program), str(self._library), what, topic, str(size), str(messages)),
                *(f"{name}={value}" for name, value in words.items()),
            ],
            _DEADLINE_S,
            # As our agents.
            WITH_TUNED_MALLOC,
        )


@cache
def _librdkafka() -> Path | None:
    """Beside confluent-kafka, where a wheel brought it along."""
    place = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    return next(place.glob("librdkafka*.so*"), None)
