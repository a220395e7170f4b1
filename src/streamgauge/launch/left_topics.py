"""Topics of a run that could not delete them itself, because it was killed: its guardian does it with this.

`python -m streamgauge.launch.left_topics` takes on its input what the run had promised.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.guardian import promise
from streamgauge.drivers.registry import open_driver
from streamgauge.launch.target_system import TargetSystem
from streamgauge.spec.secrets import fill_in
from streamgauge.spec.target import Target

_MODULE = "streamgauge.launch.left_topics"


class TopicsPromise:
    """That topics of a case are deleted, whatever becomes of us; one list at a time."""

    def __init__(self, target: Target, environment: Mapping[str, str], system: TargetSystem) -> None:
        """`environment`: the target's secrets; they go through a pipe, and into no file."""
        self._whereabouts: dict[str, Any] = {
            "target": target.model_dump(mode="json", by_alias=True, exclude_unset=True),
            "environment": dict(environment),
            "endpoints": dict(system.endpoints),
        }
        self._goes_with_us = system.goes_with_us
        self._kept: Callable[[], None] = lambda: None

    def give(self, topics: Sequence[str]) -> None:
        """Before they are made, if their names are known by then; topics of our own system go with it."""
        if topics and not self._goes_with_us:
            before = self._kept
            self._kept = promise(_MODULE, {**self._whereabouts, "topics": list(topics)})
            before()

    def kept(self) -> None:
        self._kept()
        self._kept = lambda: None


def remove_left(told: Mapping[str, Any]) -> None:
    target = fill_in(Target.model_validate(told["target"]), told["environment"])
    driver = open_driver(target, told["endpoints"])
    try:
        # Some may not have been made any more.
        for topic in told["topics"]:
            with suppress(StreamgaugeError):
                driver.remove_topics([topic])
    finally:
        driver.close()


if __name__ == "__main__":
    remove_left(json.load(sys.stdin))
