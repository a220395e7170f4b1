"""A comparison: the same short tests by two client libraries in turn, over lengths × messages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from streamgauge.spec.client_settings import ClientSettings
from streamgauge.spec.model import Bytes, Count, Seconds, SpecModel, distinct
from streamgauge.spec.topics import Topics

Operation = Literal["produce", "consume", "round_trip"]
Preset = Literal["fair", "seed"]
EngineName = Literal["python", "jvm"]


PRESETS: dict[Preset, dict[str, Any]] = {
    # Both libraries with the same batches, the same guarantees, and nothing that makes the broker wait.
    "fair": {
        "acks": "all",
        "linger_ms": 5,
        "batch_size": 131_072,
        "max_in_flight": 5,
        "idempotence": True,
        # As large as the system lets: each library has another default.
        "send_buffer": 1024**2,
        "receive_buffer": 1024**2,
        "fetch_min_bytes": 1,
        "fetch_max_wait_ms": 20,
    },
    # What the benchmark of the KNet project sets. Idempotence would not allow so many in flight.
    "seed": {
        "acks": "1",
        "linger_ms": 100,
        "batch_size": 1_000_000,
        "max_in_flight": 1_000_000,
        "idempotence": False,
        "send_buffer": 32 * 1024**2,
        "receive_buffer": 32 * 1024**2,
        "fetch_min_bytes": 100_000,
    },
}

_MOST_IDEMPOTENT = 5
"""Requests in flight; with more, or without acks of all, no library can promise idempotence."""


class Bursts(SpecModel):
    """Send so many messages, pause, and so on. Pauses are not counted as time."""

    length: Annotated[Count, Field(ge=1)] = 100
    """Messages before each pause."""
    interval: Annotated[Seconds, Field(gt=0)] = 0.1
    """How long a pause is."""


class Comparison(SpecModel):
    """The first of the workload's targets is A, the second is B."""

    lengths: tuple[Annotated[Bytes, Field(ge=1)], ...] = (10, 100, 1000, 10_000, 100_000)
    """Of a message's value."""
    messages: tuple[Annotated[Count, Field(ge=1, le=10_000_000)], ...] = (10, 100, 1000, 10_000)
    """Sent in one test."""
    repeat: Count = Field(default=20, ge=1)
    """How often each test is repeated, after one that is not counted."""
    topics: Topics = Topics(name="testTopic", own_names=True)
    """`name` is the prefix; one topic a test: `{name}__{target}__{length}__{n}`, with own names
    `{name}-{run}__…`."""
    preset: Preset = "fair"
    """fair: the same settings for both libraries; seed: those of the KNet benchmark."""
    settings: ClientSettings = ClientSettings()
    """What overrides the preset's settings, for both sides."""
    acks: Literal["0", "1", "all"] | None = None
    """None: as the preset has it."""
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "none"
    """Codec of both producers."""
    check_on_consume: bool = False
    """Check every value while the time runs."""
    produce_only: bool = False
    """Do not consume."""
    round_trip: bool = False
    """Instead of produce and consume: each message is sent when the one before has come back."""
    bursts: Bursts | None = None
    """Pauses between messages; None: there are none."""
    engine: EngineName = "python"
    """Where the loops run: in Python, or in the JVM of the client library."""
    mix_engines: bool = False
    """With engine jvm: a library that has none runs in Python, and the report says so everywhere."""
    process: Literal["own", "shared"] = "own"
    "A process per library, or one for all."
    warm_up_messages: Annotated[Count, Field(ge=0)] | Literal["auto"] = "auto"
    """Sent and read by each library before the first test: code is loaded and compiled by then. auto: as many
    as it takes until blocks of them take as long, one after the other; none: 0."""
    warm_up_limit: Annotated[Seconds, Field(gt=0)] = 60.0
    """How long each library may take for that; then tests begin all the same, and are not valid."""
    most_warm_up_messages: Count = Field(default=2_000_000, ge=1)
    """That each library may send for it; then the same."""
    test_timeout: Annotated[Seconds, Field(gt=0)] = 60.0
    """A produce, consume or round trip that takes longer has failed."""
    until_decided: bool = False
    """Add rounds where a verdict is open, until there is one or the time is over; `repeat` is the least."""
    time_limit: Annotated[Seconds, Field(gt=0)] = 12 * 3600.0
    """For all of it: nothing begins a round after that."""
    equivalence_percent: float = Field(default=5.0, gt=0, lt=100)
    """Libraries within that of each other are equivalent."""

    @field_validator("acks", mode="before")
    @classmethod
    def _acks_text(cls, acks: Any) -> Any:
        return str(acks) if isinstance(acks, int) and not isinstance(acks, bool) else acks

    @field_validator("warm_up_messages", mode="before")
    @classmethod
    def _no_warm_up(cls, messages: Any) -> Any:
        return 0 if messages == "none" else messages

    _distinct = field_validator("lengths", "messages")(distinct)

    @field_validator("topics")
    @classmethod
    def _prefix_only(cls, topics: Topics) -> Topics:
        if topics.count != 1:
            raise ValueError("count: every test has one topic of its own")
        return topics

    @model_validator(mode="after")
    def _one_kind_of_test(self) -> Comparison:
        if self.produce_only and self.round_trip:
            raise ValueError("produce_only and round_trip: give one of them")
        if self.bursts is not None and self.round_trip:
            raise ValueError("bursts: a round trip sends one message at a time")
        if self.round_trip and self.acks_in_force == "0":
            raise ValueError("acks: a round trip needs 1 or all")
        if self.settings.idempotence and self.acks_in_force != "all":
            raise ValueError("settings.idempotence: needs acks all")
        return self

    @property
    def operations(self) -> tuple[Operation, ...]:
        if self.round_trip:
            return ("round_trip",)
        return ("produce",) if self.produce_only else ("produce", "consume")

    @property
    def acks_in_force(self) -> Literal["0", "1", "all"]:
        return self.acks or PRESETS[self.preset]["acks"]

    @property
    def shared_settings(self) -> dict[str, Any]:
        """The preset, and over it what was set; by the names across libraries."""
        preset = {name: value for name, value in PRESETS[self.preset].items() if name != "acks"}
        if self.round_trip and self.preset == "fair":
            preset["linger_ms"] = 0  # a message that waits for others waits in vain
        found = preset | self.settings.model_dump(exclude_none=True)
        if self.settings.idempotence is None and (
            self.acks_in_force != "all" or found.get("max_in_flight", 1) > _MOST_IDEMPOTENT
        ):
            found["idempotence"] = False
        return found
