"""Client settings that mean the same in every Kafka library, by one name each."""

from __future__ import annotations

from pydantic import Field

from streamgauge.spec.model import Bytes, SpecModel


class ClientSettings(SpecModel):
    """None: not set. `acks` and `compression` belong to the load."""

    linger_ms: int | None = Field(default=None, ge=0)
    batch_size: Bytes | None = Field(default=None, ge=1)
    max_in_flight: int | None = Field(default=None, ge=1)
    """Requests to a broker that may be unanswered at a time."""
    idempotence: bool | None = None
    send_buffer: Bytes | None = Field(default=None, ge=1)
    """Of the socket; also `receive_buffer`."""
    receive_buffer: Bytes | None = Field(default=None, ge=1)
    fetch_min_bytes: Bytes | None = Field(default=None, ge=1)
    fetch_max_wait_ms: int | None = Field(default=None, ge=0)
