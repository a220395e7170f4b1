"""What a swarm is: very many clients of one kind in one process, each with its own connection.

What a measured client got is told to whoever asked, with when it came; other clients only count. A swarm
whose loop is compiled reads most times itself, and tells of many updates at once.
"""

from __future__ import annotations

import resource
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import BadInput
from streamgauge.drivers.registry import driver_class, drivers_with
from streamgauge.spec.target import Target

MessageKind = Literal["base", "keyed", "json", "complex", "verycomplex"]
"""What messages are: text, text by key, JSON, or JSON with many fields, of which some or little changes."""
JSON_KINDS: frozenset[MessageKind] = frozenset({"json", "complex", "verycomplex"})

Heard = Callable[[int, str, int], None]
"""Told of each update of a measured client: the client's place in the swarm, the text of its time, and when
it came (ns). What it raises a ValueError for is an update that cannot be read."""
HeardRows = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], None]
"""Told of many at once, each of whose times could be read: places, times (ns since 1970), and when they came.
The arrays are good during the call."""

ADAPTER_SET = "KafkaConnector"
"""Of a gateway that is started for its clients, unless they are told another."""
_OTHER_FILES = 200
"""Open files that are no connections of clients."""


@dataclass(frozen=True)
class SwarmOptions:
    first: int
    """Number of the first client among those of all swarms."""
    keys: tuple[int, ...]
    """Of each client, the number of the key that it follows."""
    key_names: tuple[str, ...]
    """None: messages have no keys, and everybody gets all."""
    measured: frozenset[int]
    """Places in this swarm of clients that look into every update."""
    topic: str
    start: Mapping[tuple[int, int], int]
    """Where each partition of the topic ended before the case."""
    kind: MessageKind
    group: str | None
    """Of Kafka's clients: what the name of each client's own group begins with; None: they are assigned."""
    parse_json: bool
    item: str
    """Of a gateway's clients: what the item's name is, or begins with."""
    fields: tuple[str, ...]
    max_frequency: float | str
    ramp_up_per_s: float
    comes_back: bool = False
    """Clients whose connection ended connect again, as often as it takes; else they stay away."""

    @property
    def count(self) -> int:
        return len(self.keys)


@dataclass
class Outage:
    """A client without its connection."""

    place: int
    lost_ns: int
    back_ns: int | None = None
    """When it was connected again; None: it never was."""


class Swarm(ABC):
    """Made unconnected. All calls come from one thread."""

    def __init__(self, options: SwarmOptions, heard: Heard) -> None:
        self.options, self.heard = options, heard
        self.counts = array("q", bytes(8 * options.count))
        """Updates that each client has got."""
        self.gone: dict[int, str] = {}
        """Clients whose connection ended, and why; those that came back are no more among them."""
        self.outages: list[Outage] = []
        """Of swarms whose clients come back."""

    @abstractmethod
    def connect(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        """Connect all, not faster than asked for; CaseFailed when that cannot be done in time.

        Returns when every message sent from now on will reach every client; early when `go_on` says no.
        """

    @abstractmethod
    def serve(self, seconds: float) -> None:
        """Take updates for about so long."""

    def settings_in_force(self) -> dict[str, Any]:
        return {}

    @abstractmethod
    def close(self) -> None: ...


class SwarmDriver(ABC):
    """What a driver is, too, whose clients can come by the thousand."""

    @abstractmethod
    def swarm(self, options: SwarmOptions, heard: Heard, heard_rows: HeardRows | None = None) -> Swarm:
        """`heard_rows`: by which a compiled loop may tell of many updates at once, in place of `heard`."""

    @abstractmethod
    def sender_settings(self) -> dict[str, Any]:
        """Of a `KafkaSender`, which sends what the swarm is to receive."""


def why_no_swarms(target: Target) -> str | None:
    """None where its driver has some."""
    if issubclass(driver_class(target), SwarmDriver):
        return None
    allowed = ", ".join(drivers_with(SwarmDriver))
    return (
        f"target {target.name}: driver {target.driver} has no swarms, as a fan-out needs; allowed: {allowed}"
    )


def allow_open_files(wanted: int) -> None:
    """Raise this process's limit as far as needed; BadInput says what to do where that is not allowed."""
    needed = wanted + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise BadInput(
            f"{wanted:,} clients in one process need {needed:,} open files, and at most {hard:,} are allowed "
            f"here: use more processes of at most {hard - _OTHER_FILES:,} clients "
            "(--clients-per-process), or raise the hard limit (ulimit -Hn, LimitNOFILE=, "
            "/etc/security/limits.conf)"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
