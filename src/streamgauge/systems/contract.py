"""A system under test: something we start, measure against, and stop.

It is a context manager: entering starts it and waits until it is ready, leaving stops
it whatever happened. `launch` and `wait_ready` are the two halves of `start`, so that a
caller can boot something else (Spark) in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import Outside
from streamgauge.spec.system import SystemSpec
from streamgauge.systems.disks import Disks
from streamgauge.systems.equipment import Equipment
from streamgauge.systems.links import Links
from streamgauge.systems.members import Members

START_DEADLINE_S = 60.0


class StandingState(Protocol):
    """What is known of a system that stays up, or should."""

    @property
    def brokers(self) -> int: ...
    @property
    def bootstrap(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def logs(self) -> str: ...
    @property
    def ready(self) -> bool:
        """False while somebody starts it, and after a start that was cut off."""

    @property
    def pids(self) -> dict[str, int]: ...
    @property
    def words(self) -> str:
        """How large it is: `3 brokers`."""

    @property
    def client_files(self) -> dict[str, str]:
        """Way in → file with what clients need for it; empty where everybody gets in."""

    @property
    def locks(self) -> dict[str, Any]:
        """As a target's `system` has them; empty without any."""

    @property
    def lock_words(self) -> str:
        """As in `with security scram with ACLs`."""

    def endpoints(self) -> dict[str, str]: ...

    def alive(self) -> Mapping[str, object]:
        """Those of its processes that still run."""


class Standing(Protocol):
    """A system of its kind that stays up between runs, one a user: `streamgauge cluster`."""

    def up(
        self,
        brokers: int = 1,
        security: Sequence[Any] = (),
        *,
        acls: bool = False,
        without: Sequence[Any] = (),
    ) -> StandingState: ...

    def status(self) -> StandingState | None:
        """None unless all of it runs."""

    def last_state(self) -> StandingState | None:
        """As it was left, whatever of it still runs."""

    def down(self) -> bool:
        """False when there was nothing to end."""


class System(ABC):
    """One system under test; its log files are where its maker was told to put them."""

    spec_model: ClassVar[type[SystemSpec]]
    """What a target says of it, under `system`. Not of a system that no target can ask for."""
    is_default: ClassVar[bool] = False
    """Whether it is meant where a target says no kind."""
    outlives_us: ClassVar[bool] = False
    """It was there before and stays: what is made on it has to be removed from it."""
    has_members: ClassVar[bool] = False
    """Whether its processes can be taken down one by one, and started again."""
    has_links: ClassVar[bool] = False
    """Whether its clients can be made to come through a proxy."""
    has_disks: ClassVar[bool] = False
    """Whether what its members write can be refused, or slowed down, one by one."""

    @classmethod
    def of(
        cls, wanted: SystemSpec, log_dir: Path, outside: Outside | None = None, *, is_own: bool = False
    ) -> System:
        """As a target wants it: what the model has is what the constructor takes.

        `outside`: how agents on other hosts would get at it; most systems are for this host alone.
        `is_own`: one that stays up for others will not do.
        """
        fields = {name: getattr(wanted, name) for name in type(wanted).model_fields if name != "kind"}
        fields["properties"] = {name: _text(value) for name, value in wanted.properties.items()}
        return cls(log_dir=log_dir, **fields)  # type: ignore[call-arg]

    @classmethod
    def standing(cls) -> Standing | None:
        """The one that stays up, where this kind of system can."""
        return None

    def equip(self, wanted: Equipment) -> None:
        """Before `launch`: what it is to be started with, for the faults of a run."""
        if wanted != Equipment():
            raise BadInput(f"{type(self).__name__} cannot be started with what the faults of this run need")

    @abstractmethod
    def launch(self) -> None:
        """Start the processes; do not wait until they are ready."""

    @abstractmethod
    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        """Return once clients can use it; raise a StreamgaugeError when it broke or is late."""

    def prime(self, is_over: Event) -> None:  # noqa: B027 - most need none
        """After `launch`, in a thread of its own: as soon as it answers give it something to do, for a few
        seconds at most, so that its first case does not meet it cold; until `is_over`. Never fails."""

    @abstractmethod
    def endpoints(self) -> dict[str, str]:
        """Where clients find it, e.g. {"bootstrap": "127.0.0.1:9092"}; final once ready."""

    def agents_endpoints(self) -> dict[str, str]:
        """Those that are others for agents, who may be on other hosts."""
        return {}

    @abstractmethod
    def processes(self) -> dict[str, int]:
        """Name → process id, e.g. {"broker-1": 1234}, for whoever samples CPU and memory."""

    def members(self) -> Members | None:
        """Its processes one by one, where they can be taken down and started again; None: they cannot."""
        return None

    def links(self) -> Links | None:
        """Between it and the agents; None: they come to it directly."""
        return None

    def disks(self) -> Disks | None:
        """Of its members; None: they write as anybody does."""
        return None

    def ended(self) -> str | None:
        """Which of its processes is no longer there though nobody stopped it, and why; None: all are."""
        return None

    def description(self) -> str:
        """What it is, in a few words."""
        return type(self).__name__

    def settings(self) -> dict[str, Any]:
        """What is in force, for the run's environment.json; `notes`: what the user should know."""
        return {}

    @abstractmethod
    def stop(self) -> None:
        """End every process and remove temporary data; harmless when nothing runs."""

    def start(self, deadline_s: float = START_DEADLINE_S) -> None:
        """Launch and wait; what was launched is stopped again when it does not get ready."""
        try:
            self.launch()
            self.wait_ready(deadline_s)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
