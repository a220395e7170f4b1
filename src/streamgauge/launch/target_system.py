"""What a target runs against: its own cluster, the one that `cluster up` left running, or one elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.outside import Outside
from streamgauge.spec.secrets import environment_of, fill_in, strike_out
from streamgauge.spec.system import system_class
from streamgauge.spec.target import Target
from streamgauge.systems.contract import System
from streamgauge.systems.disks import Disks
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.links import Links
from streamgauge.systems.members import Members

_PRIMING_DEADLINE_S = 4.0
_LAST_MOMENT_S = 1.0


@dataclass
class TargetSystem:
    """Endpoints and processes, wherever they come from."""

    description: str
    endpoints: dict[str, str] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    goes_with_us: bool = False
    """We started it: all that is on it goes when it does."""
    ended: Callable[[], str | None] = lambda: None
    """Which process of it is gone though nobody stopped it, and why; None: none that we know of."""
    members: Members | None = None
    """Of what we started: its processes one by one, for faults."""
    links: Links | None = None
    """Between it and the agents, for faults; None: they come to it directly."""
    disks: Disks | None = None
    """Of its members, for faults; None: they write as anybody does."""
    agents_endpoints: dict[str, str] = field(default_factory=dict)
    """Those of the endpoints that are others for agents, who may be on other hosts."""


class LaunchedSystem:
    """A system on its way up: something else can be started before `wait` is called."""

    def __init__(
        self,
        target: Target,
        log_dir: Path,
        outside: Outside | None = None,
        *,
        equipment: Equipment | None = None,
    ) -> None:
        """`outside`: how agents on other hosts get at it; None: there are none. `equipment`: it will not be
        treated well, so no other run may depend on it, and it needs that; None: nothing is done to it."""
        self._equipment = equipment
        self._log_dir, self._environment, self._outside = log_dir, environment_of(target), outside
        self._target = fill_in(target, self._environment)
        self._system: System | None = None
        self._found: TargetSystem | None = None
        self._priming: threading.Thread | None = None
        self._is_over = threading.Event()

    def launch(self) -> None:
        wanted = self._target.system
        if wanted is None:
            self._found = TargetSystem("given by the target")
            return
        # Asked for only where it matters: a system that somebody else ships may know nothing of it.
        own = {} if self._equipment is None else {"is_own": True}
        self._system = system_class(wanted.kind).of(wanted, self._log_dir, self._outside, **own)
        if self._equipment is not None:
            self._system.equip(self._equipment)
        with self._without_secrets():
            self._system.launch()
        if not self._system.outlives_us:
            self._priming = threading.Thread(
                target=self._system.prime, args=(self._is_over,), name="priming", daemon=True
            )
            self._priming.start()

    def wait(self) -> TargetSystem:
        if self._found is None:
            assert self._system is not None
            with self._without_secrets():
                self._system.wait_ready()
            self._end_priming(_PRIMING_DEADLINE_S)
            self._found = TargetSystem(
                self._system.description(),
                self._system.endpoints(),
                self._system.processes(),
                self._system.settings(),
                goes_with_us=not self._system.outlives_us,
                ended=self._system.ended,
                members=None if self._system.outlives_us else self._system.members(),
                links=self._system.links(),
                disks=self._system.disks(),
                agents_endpoints=self._system.agents_endpoints(),
            )
        return self._found

    def stop(self) -> None:
        self._end_priming(0.0)
        if self._system is not None:
            self._system.stop()

    def _end_priming(self, within_s: float) -> None:
        """Whoever is in the middle of a burst has a moment to remove its topic."""
        if self._priming is not None:
            self._priming.join(within_s)
            self._is_over.set()
            self._priming.join(_LAST_MOMENT_S)
            self._priming = None

    @contextmanager
    def _without_secrets(self) -> Iterator[None]:
        """A server tells what it does not like about its configuration."""
        try:
            yield
        except StreamgaugeError as error:
            raise type(error)(strike_out(str(error), self._environment)) from None


@contextmanager
def launched(
    target: Target, log_dir: Path, outside: Outside | None = None, *, equipment: Equipment | None = None
) -> Iterator[LaunchedSystem]:
    """Launched on entry, stopped on the way out whatever happens."""
    system = LaunchedSystem(target, log_dir, outside, equipment=equipment)
    try:
        system.launch()
        yield system
    finally:
        system.stop()
