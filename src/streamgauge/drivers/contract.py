"""What a driver is: it sends bytes and says what became of them, it receives batches, it closes.

It never stamps, records or paces: the agent does, so that all drivers are measured alike. This is
the contract for client libraries with blocking calls; asynchronous ones have a twin
(`async_contract`), and what moves whole loops below Python has `engine`.

Whoever times a loop over this contract, instead of pacing messages through it:

- *produce n*: `send` batches of `Outgoing` (what is not taken is sent again after a `poll`), `poll(0)` now
  and then, in the end `flush_soon()` and `poll` until nothing is `outstanding()`. All that can be made
  beforehand is: values, keys, the `Outgoing` objects.
- *consume n*: a consumer made without partitions, then `assign` (from where the time counts), then `poll`
  until n records have come. For a warm consumer, let it `assign` where the partitions end and `wait_ready`
  before.

A driver is found by its name in the entry-point group `streamgauge.drivers`, and has to pass the
suite in `streamgauge.testing.driver_suite`. docs/write-a-driver.md writes one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.clock import Clock
from streamgauge.payload.making import Ingredients, Outgoing
from streamgauge.payload.reading import Carrier, Packed
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

UNKNOWN = -1
"""A partition, an offset or a timestamp that nobody told."""

Identity = Carrier | Literal["ordinal"]
"""What tells which message one is: the part of it that carries the message header, or `ordinal`: no
header, the key is the sequence number as `payload.ordinal` writes it, and the value is free."""


@dataclass(frozen=True)
class Capabilities:
    """What a transport promises, so that unlike things are not compared unawares."""

    durable: bool
    ordered: bool
    acked: bool
    record_headers: bool
    keyed: bool = True
    """A message has a key beside its value. Without key and record headers the value carries the header."""
    replayable: bool = True
    """What was sent can be read again, from any offset on; else it is gone when it was received."""
    simulated_time: bool = False
    placed: bool = False
    """A producer can be bound to one partition."""
    unreported: bool = False
    """A producer can do without being told what became of its messages."""
    transactional: bool = False
    commits: bool = False
    """Members of a group can keep on the server how far they have read, for who takes over."""
    acks_name_offsets: bool = True
    """An ack says where the message lies; else its offset is UNKNOWN."""


@dataclass(frozen=True)
class ProducerOptions:
    number: int
    topics: tuple[str, ...]
    carrier: Identity
    acks: Literal["0", "1", "all"]
    compression: str
    place: tuple[int, int] | None = None
    """(topic, partition) that everything goes to; None: the client chooses the partition. Only where the
    capability `placed` is."""
    completions: bool = True
    """False: `poll` need not tell of messages that did not fail. Only where `unreported` is."""
    sequence_at: int = 8
    """Where in what carries the header the sequence number stands (8 bytes, little-endian)."""
    transactional_id: str | None = None
    """Everything is sent in transactions that `commit` ends. Only where `transactional` is."""


@dataclass(frozen=True)
class ConsumerOptions:
    number: int
    topics: tuple[str, ...]
    carrier: Identity
    partitions: tuple[tuple[int, int], ...]
    """(topic, partition) pairs to read; with a group, what the broker has to deal out. Without a group there
    may be none: then nothing is read until `Consumer.assign`."""
    group: str | None
    """None: the partitions are assigned as given."""
    start: Mapping[tuple[int, int], int]
    """Offsets to begin at: where each partition ended before the case."""
    transactions: bool = False
    """Only what was committed is to be received."""
    commits: bool = False
    """In a group: what it has read is committed now and then, and it begins where others have committed.
    Only where the capability is; else it begins at `start` whenever partitions are dealt out."""

    def starts(self) -> dict[tuple[int, int], int]:
        """Where each of `partitions` is to be begun at."""
        return {place: self.start.get(place, 0) for place in self.partitions}


@dataclass(frozen=True)
class PartitionState:
    """Members of a system by their names: `broker-1`."""

    leader: str
    replicas: tuple[str, ...]
    in_sync: tuple[str, ...]


@dataclass(frozen=True)
class SharedSetting:
    """A setting that means the same in several libraries, as it was in force in one of them."""

    name: str
    """streamgauge's name, the same for all; quantities carry their unit."""
    native: str | None
    """The library's own name; None: it has no such setting."""
    value: str | int | float | bool | None
    """What was in force, in the unit of `name`; None: the library leaves it to the operating system, or
    has no such setting."""
    note: str = ""
    """What else a reader has to know, e.g. what the library does instead."""


@dataclass(slots=True)
class Acks:
    """What became of messages; one row each, in the order in which it was told."""

    sequences: NDArray[np.int64]
    partitions: NDArray[np.int32] | int
    offsets: NDArray[np.int64]
    errors: dict[int, str] = field(default_factory=dict)
    """By sequence: why it was not delivered."""
    told_ns: NDArray[np.int64] | None = None
    """When each was heard of, where the client itself looked at the clock."""

    def __len__(self) -> int:
        return len(self.sequences)


@dataclass(slots=True)
class Received:
    """Records, one row each, in the order in which they came."""

    values: list[bytes] | Packed
    carried: list[bytes | None] | None
    """Keys or record headers, where these carry the message header; keys, where they are ordinals."""
    topics: NDArray[np.int32] | int
    partitions: NDArray[np.int32] | int
    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]
    timestamp_kind: NDArray[np.int8] | int
    """BROKER_TIME_* of tables.events."""

    def __len__(self) -> int:
        return len(self.values)


class ClientFacts:
    """What a producer or consumer tells of itself."""

    def settings_in_force(self) -> dict[str, Any]:
        """By the library's own names: all that it tells of itself, else what it was given."""
        return {}

    def shared_settings(self) -> list[SharedSetting]:
        """Every setting that has a name across libraries, also those that this one lacks."""
        return []

    def counters(self) -> dict[str, int]:
        """What was counted since the client was made, by name; most drivers count nothing.

        `crossings`: calls between Python and Java, both ways. `jni_calls`: JNI functions called in this
        process, where that was asked for and can be counted. Both exact; see docs/drivers.md. `spun_us`: what
        a compiled loop spent on looking at the clock, so as not to be woken late.
        """
        return {}


class Producer(ABC, ClientFacts):
    """One producer. `poll` may be called by a second thread while the first one sends."""

    clock: Clock = Clock()
    tells_at_once: ClassVar[bool] = False
    """What became of a message is known when `send` returns: nobody has to wait for it."""

    @abstractmethod
    def send(self, batch: Outgoing, topic: int) -> int:
        """Hand messages over, without waiting; how many of them, from the first on, were taken."""

    @abstractmethod
    def poll(self, timeout_s: float) -> Acks | None:
        """What became of messages since the last call; wait for the first as long as `timeout_s`."""

    @abstractmethod
    def outstanding(self) -> int:
        """Messages taken of which `poll` has not told yet; without completions, those still on their way."""

    def commit(self) -> str | None:
        """End the transaction that the first message since the last call began; this waits. Nobody else
        calls this producer meanwhile. Why it had to be aborted instead; None: it is committed."""
        raise NotImplementedError(f"{type(self).__name__} has no transactions")

    def abort(self) -> None:
        """The same, and nothing of it is ever to be read."""
        raise NotImplementedError(f"{type(self).__name__} has no transactions")

    def flush_soon(self) -> None:
        """No more messages will come: hold nothing back."""

    @abstractmethod
    def close(self) -> None: ...


class PacedProducer(Producer):
    """A producer with a loop of its own beneath Python: it waits until messages are due, makes, stamps and
    hands them over, and hears of them meanwhile. `send` is for what is not paced. One thread calls it."""

    is_full: bool = False
    """Whether `send_due` stopped the last time because the client took no more."""

    @abstractmethod
    def send_due(
        self,
        first_sequence: int,
        count: int,
        due_ns: NDArray[np.int64] | None,
        columns: Mapping[str, NDArray[Any]],
        until_ns: int,
        *,
        waits: bool,
    ) -> int:
        """Hand over messages from this one on until a time, and write a row of each; how many were taken.

        `due_ns`: of at least `count`; None: as fast as it goes. `columns`: so many free rows of
        `tables.events.SENDS`. `waits`: until they are due, and while the client is full; else what cannot be
        sent now is not.
        """


class ColumnReader(ABC):
    """Records of one consumer straight into columns, beneath Python: identified, checked and stamped."""

    @property
    @abstractmethod
    def intended_ns(self) -> NDArray[np.int64]:
        """From the headers of what was read last, a row each."""

    @abstractmethod
    def read(self, columns: Mapping[str, NDArray[Any]], timeout_s: float) -> int:
        """Into the first rows of these columns of `tables.events.RECEIVES`; how many. Waits for the first
        record as long as `timeout_s`."""


class Consumer(ABC, ClientFacts):
    """One consumer."""

    clock: Clock = Clock()

    def column_reader(self, tag: int) -> ColumnReader | None:
        """To be used instead of `poll` from the beginning on; None: there is none. For messages with the
        usual header, of the case with this tag."""
        return None

    @abstractmethod
    def wait_ready(self, deadline_s: float) -> None:
        """Return when every record written from now on will be received; else raise Unreachable."""

    @abstractmethod
    def poll(self, timeout_s: float) -> Received | None:
        """What has come; wait for the first record as long as `timeout_s`."""

    @abstractmethod
    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        """Read these (topic, partition) pairs from these offsets on, and no others; without waiting.

        What was read ahead before is forgotten. Not for members of a group.
        """

    @abstractmethod
    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        """Has all been read that was there, up to these ends by (topic, partition)?"""

    def dealt_count(self) -> int | None:
        """How often a group has given it partitions: each time it may begin at a place that was read before.
        None: it is in no group, or the library does not tell."""
        return None

    @abstractmethod
    def close(self) -> None: ...


def all_read(positions: Mapping[tuple[int, int], int], ends: Mapping[tuple[int, int], int]) -> bool:
    """Has a consumer at these positions got as far as these ends?"""
    return all(position >= ends.get(place, 0) for place, position in positions.items())


@dataclass(frozen=True)
class Need:
    """What a case has to be allowed to do."""

    writes: bool = True
    reads: bool = True
    deletes: bool = False
    groups: tuple[str, ...] = ()
    """That consumers are members of."""


class Driver(ABC):
    """One client library, set up for one target."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    settings_model: ClassVar[type[SpecModel]]
    fair_client: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """By part of a target (`consumer_client` …): what the library alone needs so as not to be held up by a
    pause of its own; it has no name across libraries, and a comparison on fair terms sets it."""

    @abstractmethod
    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        """`endpoints` are those of the system that was started for the target, if any."""

    @abstractmethod
    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        """Raise Unreachable, naming the address; else facts about what answered."""

    def library_version(self) -> dict[str, Any]:
        """`librdkafka`: 2.16.0; empty where there is no library."""
        return {}

    @abstractmethod
    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        """Make the topics that are not there; those that were made. Others must fit, else BadInput."""

    @abstractmethod
    def remove_topics(self, names: list[str]) -> None: ...

    def check_rights(self, topics: tuple[str, ...], need: Need) -> None:  # noqa: B027 - most ask nobody
        """Refused when a case must do on topics that are there what is not allowed, if that can be known."""

    def endpoints(self) -> dict[str, str]:
        """What agents have to know of what `prepare_topics` did; they get it with the system's own."""
        return {}

    @abstractmethod
    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        """Where each partition ends now, by (topic, partition)."""

    def partition_state(self, topic: str, partition: int) -> PartitionState:
        """Who has it now. Only of systems with several members."""
        raise NotImplementedError(f"{type(self).__name__} does not know who leads a partition")

    @abstractmethod
    def producer(self, options: ProducerOptions) -> Producer: ...

    def paced_producer(self, options: ProducerOptions, messages: Ingredients) -> PacedProducer | None:
        """One that makes these messages itself; None: the agent does, and sends them through `producer`."""
        return None

    @abstractmethod
    def consumer(self, options: ConsumerOptions) -> Consumer: ...

    def close(self) -> None:  # noqa: B027 - most drivers hold nothing open
        """Let go of whatever is held beside producers and consumers."""
