"""What clients ask for: one class for each kind of request. `command_reading` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["MERGE", "DISTINCT", "RAW", "COMMAND"]
Diff = Literal["P", "T"]
ALL_DIFFS: Final = frozenset[Diff]({"P", "T"})


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often updates of an item may be sent; `per_s` None: as fast as possible."""

    per_s: float | None = None
    filtered: bool = True


UNLIMITED: Final = Frequency()
UNFILTERED: Final = Frequency(filtered=False)


@dataclass(frozen=True, slots=True)
class Polling:
    """Answer with what is there, after waiting `idle_ms` at most; the next bind comes `interval_ms` later."""

    interval_ms: int
    idle_ms: int


@dataclass(frozen=True, slots=True)
class Binding:
    """How a connection is to carry a session: the part that creating and binding have in common."""

    polling: Polling | None
    keepalive_ms: int | None
    inactivity_ms: int | None
    content_length: int | None
    sends_sync: bool
    reduces_head: bool


@dataclass(frozen=True, slots=True)
class CreateSession:
    adapter_set: str
    user: str | None
    password: str | None
    bandwidth_kbps: float | None
    diffs: frozenset[Diff]
    old_session: str | None
    binding: Binding


@dataclass(frozen=True, slots=True)
class BindSession:
    session: str | None
    recovery_from: int | None
    binding: Binding


@dataclass(frozen=True, slots=True)
class Control:
    """What all control requests carry; `session` None: the one bound to the connection."""

    request_id: str
    session: str | None


@dataclass(frozen=True, slots=True)
class Subscribe(Control):
    sub_id: int
    data_adapter: str | None
    items: tuple[str, ...]
    fields: tuple[str, ...]
    mode: Mode
    snapshot: bool
    snapshot_length: int | None
    frequency: Frequency
    buffer_size: int | None
    """None: not limited by the client."""
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class Unsubscribe(Control):
    sub_id: int
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class Reconfigure(Control):
    sub_id: int
    frequency: Frequency | None


@dataclass(frozen=True, slots=True)
class Constrain(Control):
    bandwidth_kbps: float | None
    changes: bool


@dataclass(frozen=True, slots=True)
class ForceRebind(Control):
    polling_ms: int
    closes_socket: bool


@dataclass(frozen=True, slots=True)
class Destroy(Control):
    cause_code: int | None
    cause_message: str | None
    closes_socket: bool


@dataclass(frozen=True, slots=True)
class SendMessage(Control):
    text: str
    sequence: str | None
    number: int | None
    max_wait_ms: int | None
    acknowledged: bool
    wants_outcome: bool


@dataclass(frozen=True, slots=True)
class Heartbeat:
    session: str | None


@dataclass(frozen=True, slots=True)
class CheckWebSocket:
    pass


ControlCommand = Subscribe | Unsubscribe | Reconfigure | Constrain | ForceRebind | Destroy | SendMessage
Command = CreateSession | BindSession | ControlCommand | Heartbeat | CheckWebSocket
