"""What lies in the `live` folder of a run while it goes on: who writes it and who reads it agree here.

Small files that are written anew about once a second, for whoever looks; nothing is missed by who does not.
An agent writes its own, the launcher those of the systems (`RESOURCES`) and of the stage that the run is in
(`STAGE`).
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

RESOURCES, STAGE = "launcher", "stage"
"""Names in the place of an agent's."""

ACK_TIMES = "the acknowledgement, from the intended send"
"""What the times of a load without consumers are times of."""
Counted = Literal["sent", "received", "done"]
SIDES: dict[str, Counted] = {"producer": "sent", "consumer": "received"}
"""What an agent of that kind counts."""


class LiveFile(TypedDict):
    """An agent's."""

    case: str
    kind: str
    messages: int
    """In this case, by now."""
    counts: Counted
    tick: int
    """How often it has told by now."""
    at_s: float
    """When, since 1970."""
    cpu_s: float
    rss_bytes: int
    buckets: list[tuple[int, int]]
    """Latencies since the last time: the middle of a bucket in ns, and how many."""
    p99_ms: NotRequired[float]
    """Of the newest few thousand."""
    words: NotRequired[str]
    """How far it is, in its own words; with `completed` of `total`."""
    completed: NotRequired[int]
    total: NotRequired[int]
    warm_up: NotRequired[int]
    """How many of its messages are sent before those that count; absent while nobody knows."""
    acked: NotRequired[int]
    failed: NotRequired[int]
    """Of a producer, of all messages so far: what acks told."""
    damaged: NotRequired[int]
    """Of a consumer, of all so far: not intact, or none of this run's."""
    times_are: NotRequired[str]
    """What `buckets` are times of, where that is not a message on its way."""
    latency_ms: NotRequired[dict[str, int]]
    """All samples so far, by whole ms."""


class ResourceLine(TypedDict):
    source: str
    kind: str
    cpu_s: float
    rss_bytes: int


class ResourcesFile(TypedDict):
    case: str
    at_s: float
    cores: int
    processes: list[ResourceLine]
    """The machine itself is one of them."""


class StageFile(TypedDict):
    stage: str
    since_s: float
