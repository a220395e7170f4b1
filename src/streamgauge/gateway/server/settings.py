"""What can be set on the server itself; what is read from Kafka is the connector's matter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from streamgauge.spec.model import Bytes, Count, RatePerS, Seconds, SpecModel

LISTENING = "listening on "
"""What the process says, with its address behind it, when clients can come."""

MONITORING = "monitored on "
"""The same, where its health and its metrics are; said before."""

DiffFormat = Literal["jsonpatch", "diff_match_patch"]
Positive = Annotated[int, Field(gt=0)]
Part = Annotated[float, Field(gt=0, le=1)]
SESSIONS_PER_ADDRESS = 1000
"""Where nothing is set."""
_HEAD_BYTES = 16_384
"""The longest head of an HTTP request."""


class Limits(SpecModel):
    """Where the server says no, so that one client cannot spoil it for the others."""

    sessions: Count = Field(default=19_000, description="Sessions of one process.")
    connections: Count | None = Field(
        default=None,
        gt=0,
        description="Of one process; past it the oldest without a session goes. "
        "None: as many as there can be open files, but 200.",
    )
    sessions_per_address: Count | None = Field(
        default=None,
        description="Of one address (of an IPv6 network of 64 bits). None: 1,000; and of this machine "
        "itself, where a proxy may stand for everybody, as many as there may be.",
    )
    subscriptions_per_session: Count = 1000
    items_per_subscription: Count = 1000
    items_per_session: Count = Field(default=10_000, description="Of all its subscriptions together.")
    items_of_address: Count = Field(
        default=200_000,
        description="Of all sessions of one address (of an IPv6 network of 64 bits) together.",
    )
    items_of_all: Count = Field(default=1_000_000, description="Of all sessions of one process together.")
    fields_per_subscription: Count = 500
    subscriptions_per_item: Count = Field(
        default=10,
        gt=0,
        description="How often one session may subscribe to the same item: "
        "so many times a record's bytes may go to one client.",
    )
    sequences_per_session: Count = Field(default=100, description="Of messages, by LS_sequence.")
    request_bytes: Bytes = Field(
        default=50_000, ge=1000, description="Told to clients, who split requests by it."
    )
    requests_per_s: RatePerS = Field(
        default=500,
        gt=0,
        description="Of one connection; what comes faster waits. Each item of a subscription counts as one.",
    )
    message_fragments: Count = Field(
        default=256, ge=1, description="Of which one WebSocket message may be made."
    )
    kept_bytes: Bytes = Field(
        default=131_072, description="Of what one connection has sent, held until it can be dealt with."
    )
    kept_bytes_of_address: Bytes = Field(default=33_554_432, description="The same, of one address.")
    kept_bytes_of_all: Bytes = Field(default=67_108_864, description="The same, of all connections.")
    owed_bytes: Bytes = Field(
        default=16_777_216,
        description="What may wait for one connection. Past a quarter of it its requests are not read.",
    )
    owed_bytes_of_address: Bytes = Field(default=268_435_456, description="The same, of one address.")
    owed_bytes_of_all: Bytes = Field(default=536_870_912, description="The same, of all connections.")
    cpu_share: Part = Field(
        default=0.1,
        description="Of a core, for what one connection sends. Past it, it is not read for a while; past "
        "twice what can be saved up, it is dropped.",
    )
    cpu_share_of_address: Part = Field(
        default=0.4, description="The same, of one address; nobody is dropped."
    )
    cpu_share_of_all: Part = Field(
        default=0.5,
        description="The same, of all connections. Past it, those who have used half of theirs wait.",
    )
    cpu_slice: Seconds = Field(
        default=0.002,
        gt=0,
        description="For so long what clients have sent is dealt with in one go, all connections together, "
        "before updates are sent again.",
    )
    cpu_window: Seconds = Field(default=4, gt=0, description="For so long an unused share is saved up.")
    password_checks_per_address_per_s: RatePerS = Field(
        default=20, ge=1, description="Passwords that were not right before; what comes faster is refused."
    )
    password_checks_per_user_per_s: RatePerS = Field(
        default=50, ge=1, description="The same for a user, from all addresses together."
    )
    password_checks_waiting: Count = Field(
        default=100, gt=0, description="Passwords that wait to be checked; beyond it sessions are refused."
    )
    connect_deadline: Seconds = Field(default=10, gt=0, description="From the first byte to a whole request.")
    backlog_bytes: Bytes = Field(
        default=65_536,
        ge=4096,
        description="What may wait for one slow reader before its updates are conflated.",
    )
    burst_bytes: Bytes = Field(
        default=4_194_304,
        ge=4096,
        description="What a batch of records may become for one client before it is sent; "
        "what then does not go out waits as for any slow reader.",
    )
    unread_deadline: Seconds = Field(
        default=20,
        gt=0,
        description="A socket that takes nothing for this long, though there is something, is closed.",
    )
    recovery_bytes: Bytes = Field(
        default=262_144,
        ge=4096,
        description="What is kept of one session's (or cohort's) past for session recovery.",
    )
    recovery_bytes_of_all: Bytes = Field(
        default=268_435_456,
        ge=4096,
        description="The same, of all of one process. Past it, whoever has most keeps half.",
    )

    @model_validator(mode="after")
    def _has_room_for_a_request(self) -> Limits:
        least = self.request_bytes + _HEAD_BYTES
        if self.kept_bytes < least:
            raise ValueError(
                f"kept_bytes: {self.kept_bytes} has no room for a request of request_bytes and its head: "
                f"make it at least {least}"
            )
        return self


class ServerSettings(SpecModel):
    """The push server."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    monitoring_host: str = Field(
        default="127.0.0.1", description="Where /healthz and /metrics are, which are not for clients."
    )
    monitoring_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=0, description="0: any that is free; it is told at the start."
    )
    server_name: str = "streamgauge"
    keepalive_millis: Positive = 5000
    session_timeout: Seconds = Field(
        default=10, description="How long a session without a connection is kept."
    )
    session_recovery: Seconds = Field(default=13, description="The same, after its connection broke.")
    max_delay_millis: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0, description="How long an update may wait for others to share its frame."
    )
    default_diff_order: tuple[DiffFormat, ...] = Field(
        default=(), description="Which differences to try, in turn."
    )
    jsonpatch_min_length: Annotated[int, Field(ge=0)] | Literal["none"] = Field(
        50, description="Values shorter than this are not worth a patch; none: always try."
    )
    distinct_snapshot_length: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=10, description="How many events of a DISTINCT item a newcomer can get."
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description="Of pages that may use the server, beside its own; `*`: all."
    )
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _both_or_none(self) -> ServerSettings:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key belong together: give both or none")
        return self
