"""Client settings that mean the same in every Kafka library, by one name each."""

from __future__ import annotations

from pydantic import Field

from streamgauge.spec.model import Bytes, SpecModel


class ClientSettings(SpecModel):
    """None: not set. `acks` and `compression` belong to the load."""

    linger_ms: int | None = Field(default=None, ge=0)
    """How long a producer waits for more messages before it sends a batch."""
    batch_size: Bytes | None = Field(default=None, ge=1)
    """Bytes of a producer's batch."""
    max_in_flight: int | None = Field(default=None, ge=1)
    """Requests to a broker that may be unanswered at a time."""
    idempotence: bool | None = None
    """Whether the broker drops copies that a producer sends again."""
    send_buffer: Bytes | None = Field(default=None, ge=1)
    """Of the socket; also `receive_buffer`."""
    receive_buffer: Bytes | None = Field(default=None, ge=1)
    """Bytes of the socket's receive buffer."""
    fetch_min_bytes: Bytes | None = Field(default=None, ge=1)
    """How much data a broker waits for before it answers a fetch."""
    fetch_max_wait_ms: int | None = Field(default=None, ge=0)
    """How long it waits for them."""
