"""What is told of agents: why one broke; by `--debug` where each is ready, how it ended and what it said."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping

from streamgauge.agents.diary import Manifest
from streamgauge.core.environment import host_name
from streamgauge.core.errors import GivenUp
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.agreed_start import ReadyAgent

LOGGER = logging.getLogger("streamgauge.agents")

_TROUBLE = re.compile(r"^\S+ \S+ (WARNING|ERROR|CRITICAL) ")
"""As agents' logs begin a line (`LogWithoutSecrets`)."""
_MOST_LINES = 20
"""Of an agent and a case: a client that cannot connect says the same again and again."""


def tell_ready(agents: Mapping[str, ReadyAgent]) -> None:
    for agent, known in agents.items():
        LOGGER.debug("%s is ready on %s, clock offset %d ns", agent, known.hostname, known.offset_ns)


def tell_done(manifest: Manifest) -> None:
    counts = ", ".join(f"{name} {count}" for name, count in manifest.counts.items()) or "nothing counted"
    why = f": {manifest.reason}" if manifest.reason else ""
    LOGGER.debug("%s has %s%s (%s)", manifest.agent, manifest.outcome, why, counts)


def to_blame(manifests: Iterable[Manifest]) -> Manifest | None:
    """Of agents that failed one that did so by itself, if there is one; others were only given up for it."""
    failed = [manifest for manifest in manifests if manifest.outcome == "failed"]
    return min(failed, key=lambda manifest: manifest.error == GivenUp.__name__, default=None)


def why_broken(manifest: Manifest) -> str:
    """With its host, if that is not this one: a disk that is full is somebody's disk."""
    where = "" if manifest.hostname in ("", host_name()) else f"follower {manifest.hostname}: "
    return where + (manifest.reason or "an agent failed")


class AgentLogs:
    """Warnings and errors of client libraries; each line is told once, however many cases there are."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._lines_read: dict[str, int] = {}

    def tell(self, agents: Iterable[str]) -> None:
        if not LOGGER.isEnabledFor(logging.DEBUG):
            return
        for agent in agents:
            place = self._run.log(agent)
            if not self._run.has(place):
                continue
            lines = self._run.read_text(place).splitlines()
            new = [line for line in lines[self._lines_read.get(agent, 0) :] if _TROUBLE.match(line)]
            self._lines_read[agent] = len(lines)
            for line in new[:_MOST_LINES]:
                LOGGER.debug("%s: %s", agent, line)
            if len(new) > _MOST_LINES:
                more = len(new) - _MOST_LINES
                LOGGER.debug("%s: and %d more like these in %s", agent, more, self._run.url(place))
