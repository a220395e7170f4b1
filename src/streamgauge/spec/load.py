"""A load: how much of what, by how many producers and consumers."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    SerializeAsAny,
    Tag,
    field_validator,
    model_validator,
)

from streamgauge.core.units import parse_bytes, parse_seconds
from streamgauge.spec.fault import FaultSpec
from streamgauge.spec.model import Bytes, Count, Seconds, SpecModel
from streamgauge.spec.rate import Rate
from streamgauge.spec.reach import FileName
from streamgauge.spec.settling import SettlingTerms
from streamgauge.spec.topics import Topics

Precedence = Literal["none", "real_time", "own_core"]

MESSAGE_HEADER_BYTES = 32
"""What the id, the intended time and the checksum of a message take."""


_USUAL_TIME_LIMIT_S = 3600.0
_SHORT_BYTES = 78
"""Of a protobuf order."""


class SizeDistribution(SpecModel):
    """Sizes drawn at random; `fixed` sizes are written as a plain number."""

    distribution: Literal["uniform", "normal", "lognormal"]
    """How sizes are spread between `min` and `max`."""
    min: Bytes
    """No message is smaller."""
    max: Bytes
    """No message is larger."""
    mean: Bytes | None = None
    """Of normal and lognormal, before it is cut at `min` and `max`."""
    sd: Bytes | None = None
    """The same: its standard deviation."""

    @model_validator(mode="after")
    def _complete(self) -> SizeDistribution:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        if self.distribution != "uniform" and (not self.mean or not self.sd):
            raise ValueError(f"a {self.distribution} distribution needs mean and sd, both above 0")
        return self


class FileLines(SpecModel):
    """Payloads are the lines of a file, over and over."""

    lines_of: FileName
    """A text file; each message has one of its lines."""


class ProtobufOrder(SpecModel):
    """Payloads are protobuf orders of 78 bytes, serialised and parsed within the measured time."""

    protobuf: Literal["order"]
    """Orders as a shop would send them, encoded and decoded by the agents."""


def _size(value: Any) -> Any:
    return parse_bytes(value) if isinstance(value, (int, float, str)) else value


def _size_branch(value: Any) -> str:
    if isinstance(value, FileLines) or (isinstance(value, dict) and "lines_of" in value):
        return "<lines>"
    if isinstance(value, ProtobufOrder) or (isinstance(value, dict) and "protobuf" in value):
        return "<protobuf>"
    return "<drawn>" if isinstance(value, (dict, SizeDistribution)) else "<fixed>"


# Branches are told apart before validation, so that an error speaks of the branch that was meant.
MessageSize = Annotated[
    Annotated[int, Tag("<fixed>")]
    | Annotated[SizeDistribution, Tag("<drawn>")]
    | Annotated[FileLines, Tag("<lines>")]
    | Annotated[ProtobufOrder, Tag("<protobuf>")],
    Discriminator(_size_branch),
    BeforeValidator(_size),
]


class Keys(SpecModel):
    """Message keys: none, 0…N−1 in turn, or at random of N."""

    kind: Literal["none", "round_robin", "random"] = "none"
    of: Count = Field(default=0, ge=0)
    """How many different keys there are."""

    @model_validator(mode="after")
    def _counted(self) -> Keys:
        if (self.kind == "none") != (self.of == 0):
            raise ValueError(
                "`of` says of how many keys: at least 1 for round_robin and random, absent for none"
            )
        return self


class Message(SpecModel):
    """What one message is made of."""

    size: MessageSize = 700
    keys: Keys = Keys()
    """Which key each message has."""
    headers: dict[str, str] = {}
    """Record headers of every message, by name."""
    header_in: Literal["auto", "value", "key", "headers"] = "auto"
    """Where the id, the intended time and the checksum travel. auto: in the value when it is large
    enough, else in the key when there are no keys, else in a record header."""
    compressibility: float = Field(default=0.0, ge=0, le=100)
    """0: random bytes, which no codec makes smaller. Else by what ratio a codec is to: 4 brings values to a
    quarter. What the codec in use reached is noted in the results."""

    @model_validator(mode="after")
    def _can_be_filled(self) -> Message:
        if 0 < self.compressibility < 1:
            raise ValueError("compressibility: give 0 (random), or a ratio of 1 or more: 4 means a quarter")
        if self.compressibility and isinstance(self.size, (FileLines, ProtobufOrder)):
            raise ValueError("compressibility: lines of a file and protobuf orders are what they are")
        return self

    @model_validator(mode="after")
    def _header_fits(self) -> Message:
        if isinstance(self.size, ProtobufOrder):
            if self.header_in not in ("auto", "value") or self.headers or self.keys.kind != "none":
                raise ValueError("protobuf orders carry their header themselves: no keys, no headers")
            return self
        smallest = self.size if isinstance(self.size, int) else getattr(self.size, "min", None)
        if self.header_in == "value" and smallest is not None and smallest < MESSAGE_HEADER_BYTES:
            raise ValueError(
                f"size {smallest} is below the {MESSAGE_HEADER_BYTES} bytes of the header that the value is "
                "to carry; raise size, or set header_in to auto, key or headers"
            )
        if self.header_in == "key" and self.keys.kind != "none":
            raise ValueError("header_in: the key cannot carry the header when `keys` are set; use headers")
        return self

    @property
    def mean_bytes(self) -> float:
        """Of a value, about; of lines of a file nobody knows here, and they are taken to be short."""
        if isinstance(self.size, SizeDistribution):
            return max(1.0, float(self.size.mean or (self.size.min + self.size.max) / 2))
        return max(1.0, float(self.size)) if isinstance(self.size, int) else float(_SHORT_BYTES)

    @property
    def carrier(self) -> Literal["value", "key", "headers"]:
        """Where the header travels, decided."""
        if self.header_in != "auto":
            return self.header_in
        if isinstance(self.size, ProtobufOrder):
            return "value"
        smallest = self.size if isinstance(self.size, int) else getattr(self.size, "min", 0)
        if smallest >= MESSAGE_HEADER_BYTES:
            return "value"
        return "key" if self.keys.kind == "none" else "headers"


class Transactions(SpecModel):
    """Exactly once: messages are sent in transactions, and are received when theirs is committed."""

    messages: Count = Field(default=1000, ge=1)
    """Of each transaction; the last one of a producer may have fewer."""
    abort_every: Count | None = Field(default=None, ge=1)
    """Every so manyeth is aborted instead of committed: nothing of it may ever be read."""


class Recording(SpecModel):
    """How much of a case is kept message by message."""

    raw_limit: Annotated[Bytes, Field(ge=1)] = 2 * 1024**3
    """Events of a case on disk, past which the oldest are counted and rolled up into histograms of each
    second. What went wrong, the slowest and all around a fault stay message by message."""
    raw_last: Annotated[Seconds, Field(gt=0)] = 120.0
    """For so long nothing is rolled up."""


class Load(SpecModel):
    """How much of what, by how many."""

    producers: Count = Field(default=1, ge=1)
    consumers: Count = Field(default=1, ge=0)
    producer_hosts: tuple[str, ...] = ()
    """Followers by name that producers are on, in turn; else wherever there is a slot."""
    consumer_hosts: tuple[str, ...] = ()
    """The same for consumers."""
    streams: Literal["shared", "per_partition"] = "shared"
    """shared: each producer goes round topics and partitions, each consumer reads some of them.
    per_partition: every partition has a producer and a consumer of its own; `producers` and `consumers`
    are then the most processes that they are dealt out to."""
    messages: Count | None = Field(default=None, ge=1)
    """Of all producers together. Else `duration`, `stream_size`, or the steps' own durations."""
    duration: Annotated[Seconds, Field(gt=0)] | None = None
    stream_size: Annotated[Bytes, Field(ge=1)] | None = None
    """Bytes of values to each partition; what is left over after whole messages is not sent."""
    rate: Rate = "unlimited"
    """Of all producers together: messages a second, `unlimited`, or a list of steps."""
    warm_up_messages: Annotated[Count, Field(ge=0)] | Literal["auto"] = 0
    """Sent ahead of the counted ones, on the same schedule, and kept apart in the results. auto: as many as
    it takes until latency and CPU are at rest; none: 0."""
    warm_up_limit: Annotated[Seconds, Field(gt=0)] = 60.0
    """How long to wait for that; then measuring begins all the same, and its figures are not valid."""
    most_warm_up_bytes: Annotated[Bytes, Field(ge=1)] = 2 * 1024**3
    """Of values that auto may send ahead of a load without pace, which would fill a disk; then the same."""
    stream_warm_up_messages: Count = Field(default=0, ge=0)
    """The same for each partition's own stream. Without a rate, its counted messages begin when these
    have been acknowledged: then the way is open."""
    message: Message = Message()
    """What one message is made of."""
    topics: Topics = Topics()
    """Where messages go; all topics get the same load."""
    subscription: Literal["assigned", "group"] = "assigned"
    """assigned: partitions are dealt out to consumers beforehand; group: the broker does it."""
    acks: Literal["0", "1", "all"] = "all"
    engine: Literal["python", "jvm"] = "python"
    """Where the loops run that send and receive: in Python, or in the JVM of the client library."""
    precedence: Precedence = "none"
    """Of the thread that sends by a schedule, over others on its host. What came of it stands with the
    client's settings in force."""
    proof: bool = False
    """Before the start, messages that nobody counts are sent until the consumer has received one."""
    completions: bool = True
    """Producers hear of every message what became of it (delivery reports)."""
    transactions: Transactions | None = None
    """Send in transactions (exactly once); None: without."""
    faults: tuple[SerializeAsAny[FaultSpec], ...] = ()
    """What is done to the system meanwhile, and when."""
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "none"
    """Codec of the producers."""
    drain_timeout: Annotated[Seconds, Field(gt=0)] = 30.0
    """How long consumers wait for the last messages."""
    time_limit: Annotated[Seconds, Field(gt=0)] = _USUAL_TIME_LIMIT_S
    """The case is ended when producers have not finished by then; a `duration` that is longer is its own
    limit, unless this is said."""
    recording: Recording = Recording()
    """How much of a case is kept message by message."""

    @model_validator(mode="before")
    @classmethod
    def _time_for_all(cls, given: Any) -> Any:
        """A load that is to last for hours is not cut short by a limit that nobody set."""
        if not isinstance(given, dict) or given.get("duration") is None or "time_limit" in given:
            return given
        with suppress(ValueError):  # it is said where the field is looked at
            if (lasts_s := parse_seconds(given["duration"])) > _USUAL_TIME_LIMIT_S:
                return given | {"time_limit": lasts_s}
        return given

    @field_validator("acks", mode="before")
    @classmethod
    def _acks_text(cls, acks: Any) -> Any:
        return str(acks) if isinstance(acks, int) and not isinstance(acks, bool) else acks

    @field_validator("warm_up_messages", mode="before")
    @classmethod
    def _no_warm_up(cls, messages: Any) -> Any:
        return 0 if messages == "none" else messages

    @field_validator("rate")
    @classmethod
    def _positive(cls, rate: Rate) -> Rate:
        if isinstance(rate, float) and rate <= 0:
            raise ValueError("a rate must be above 0; allowed: 1000/s, 10k/s, unlimited, or a list of steps")
        if isinstance(rate, tuple) and not rate:
            raise ValueError("a list of steps must not be empty; a step is {rate: 1k/s, for: 10s}")
        return rate

    @model_validator(mode="after")
    def _bounded(self) -> Load:
        amounts = [self.messages, self.duration, self.stream_size]
        if isinstance(self.rate, tuple):
            if amounts != [None, None, None]:
                raise ValueError("steps have durations of their own: leave out `messages` and `duration`")
            if (self.total_messages or 0) < self.producer_count:
                raise ValueError(
                    f"rate: the steps have no message for some of {self.producer_count} producers"
                )
        elif sum(amount is not None for amount in amounts) != 1:
            raise ValueError("say how much: exactly one of `messages`, `duration` and `stream_size`")
        if self.messages is not None and self.messages < self.producer_count:
            raise ValueError(f"messages: {self.messages} cannot be shared by {self.producer_count} producers")
        if self.warm_up_messages == "auto":
            self._can_settle()
        elif 0 < self.warm_up_messages < self.producer_count:
            raise ValueError(f"warm_up_messages: {self.warm_up_messages} is below one for each producer")
        return self

    def _can_settle(self) -> None:
        """Where nobody could find since when it is at rest, that is said instead of guessed."""
        if isinstance(self.rate, tuple):
            why = "a load in steps comes to rest anew in each of them (a case for each rate does not)"
        elif not self.consumers and self.rate != "unlimited":
            why = "without a consumer there is no latency to come to rest"
        else:
            return
        raise ValueError(f"warm_up_messages: auto cannot be had here: {why}; say how many messages")

    @property
    def settles(self) -> bool:
        """Whether its warm-up goes on until it is at rest."""
        return self.warm_up_messages == "auto"

    @property
    def settling(self) -> SettlingTerms | None:
        if not self.settles:
            return None
        if self.rate != "unlimited":
            return SettlingTerms(self.warm_up_limit, self.measured_s)
        most = max(1, int(self.most_warm_up_bytes / self.message.mean_bytes))
        return SettlingTerms(self.warm_up_limit, self.measured_s, by_rate=True, most_messages=most)

    @property
    def measured_s(self) -> float | None:
        """How long it is measured; None when that is not known beforehand."""
        if self.duration is not None:
            return self.duration
        if self.total_messages is None or not isinstance(self.rate, float):
            return None
        return self.total_messages / self.rate

    @model_validator(mode="after")
    def _streams_fit(self) -> Load:
        if self.streams == "per_partition" and self.subscription == "group":
            raise ValueError("subscription: a group deals out partitions itself; use streams: shared")
        if self.stream_warm_up_messages and (self.streams != "per_partition" or self.warm_up_messages):
            raise ValueError(
                "stream_warm_up_messages: is for streams: per_partition, and instead of warm_up_messages"
            )
        if self.stream_size is not None:
            if self.streams != "per_partition":
                raise ValueError(
                    "stream_size: is for each partition's own stream; set streams: per_partition"
                )
            if not isinstance(self.message.size, int) or self.message.size < 1:
                raise ValueError("stream_size: needs messages of one fixed size above 0")
            if self.stream_size < self.message.size:
                raise ValueError(
                    f"stream_size: {self.stream_size} bytes hold no message of {self.message.size} bytes"
                )
        if self.proof and (self.producers, self.consumers, self.partition_count) != (1, 1, 1):
            raise ValueError("proof: is for one producer and one consumer on one partition")
        if self.engine == "jvm":
            self._fits_jvm()
        if self.transactions is not None and self.acks != "all":
            raise ValueError("transactions: need acks: all")
        return self

    @model_validator(mode="after")
    def _somebody_has_precedence(self) -> Load:
        if self.precedence != "none" and (self.rate == "unlimited" or self.engine == "jvm"):
            raise ValueError(
                "precedence: is for a schedule, kept by a thread of Python's: set a rate, and engine: python"
            )
        return self

    @model_validator(mode="after")
    def _faults_in_time(self) -> Load:
        lasts_s = self.measured_s
        for number, fault in enumerate(self.faults):
            if lasts_s is not None and fault.at >= lasts_s:
                raise ValueError(
                    f"faults.{number}: at {fault.at:g} s the load is over, which lasts {lasts_s:g} s"
                )
        return self

    def _fits_jvm(self) -> None:
        if not isinstance(self.message.size, ProtobufOrder):
            raise ValueError("engine: jvm sends protobuf orders; set message.size: {protobuf: order}")
        if (self.producers, self.consumers, self.partition_count) != (1, 1, 1):
            raise ValueError("engine: jvm has one producer and one consumer on one partition")
        if not isinstance(self.rate, float) or self.total_messages is None:
            raise ValueError("engine: jvm needs one constant rate, and an amount")
        if self.subscription == "group" or self.transactions is not None or not self.completions:
            raise ValueError(
                "engine: jvm has no groups and no transactions, and every message's fate is told"
            )

    @property
    def partition_count(self) -> int:
        """Of all topics together."""
        return self.topics.count * self.topics.partitions

    @property
    def producer_count(self) -> int:
        """Producers that count their messages by themselves: one a partition, or one a process."""
        return self.partition_count if self.streams == "per_partition" else self.producers

    @property
    def consumer_count(self) -> int:
        per_partition = self.streams == "per_partition" and self.consumers > 0
        return self.partition_count if per_partition else self.consumers

    @property
    def total_warm_up_messages(self) -> int:
        """As far as it is known beforehand."""
        ahead = 0 if self.warm_up_messages == "auto" else self.warm_up_messages
        return ahead + self.stream_warm_up_messages * self.partition_count

    @property
    def fixed_warm_up_s(self) -> float:
        """As far as it is known beforehand."""
        return self.total_warm_up_messages / self.rate if isinstance(self.rate, float) else 0.0

    @property
    def total_messages(self) -> int | None:
        """Messages to count, all producers together; None when only time bounds it."""
        if self.messages is not None:
            return self.messages
        if self.stream_size is not None and isinstance(self.message.size, int):
            return self.partition_count * (self.stream_size // self.message.size)
        if isinstance(self.rate, tuple):
            return _whole(sum(step.rate * step.for_ for step in self.rate))
        if self.rate == "unlimited" or self.duration is None:
            return None
        return max(self.producer_count, _whole(self.rate * self.duration))


def _whole(messages: float) -> int:
    """Rounded down, but for what only floating point took away: 100/s for 0.29 s are 29."""
    return math.floor(round(messages, 6))
