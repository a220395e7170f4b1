"""Where the server and what feeds it meet: a source publishes items, the server is its listener.

Everything here is called on the server's event loop. A source that reads in a thread of its own hops
to that loop itself, in batches, and publishes there.

What a mapping of fields means, by the mode of a subscription:
  MERGE     a field that is not in the mapping keeps its value;
  DISTINCT, RAW   it is null;
  COMMAND   fields include `key` and `command` (ADD, UPDATE, DELETE); a field that is not in the mapping
            keeps the value it has under that key. The server turns an ADD of a key that is there into an
            UPDATE, an UPDATE of one that is not into an ADD, and drops the DELETE of one that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from streamgauge.core.errors import StreamgaugeError

DEFAULT_DATA_ADAPTER = "DEFAULT"
MODES = frozenset({"MERGE", "DISTINCT", "RAW", "COMMAND"})


class UnknownItem(StreamgaugeError):
    """A subscription that a source refuses; the client gets the code (0 or below: the source's own)."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class NotAuthorized(StreamgaugeError):
    """A client whose credentials do not hold; told as CONERR with this code (1, or 0 and below)."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Listener(Protocol):
    """What a source tells; items that nobody subscribed (any more) are passed over in silence."""

    def publish(self, item: str, fields: Mapping[str, str | None], *, snapshot: bool = False) -> None:
        """One event. The mapping must not be changed afterwards."""

    def clear_snapshot(self, item: str) -> None:
        """What the item held is void: DISTINCT and COMMAND clients empty their lists."""

    def end_of_snapshot(self, item: str) -> None:
        """All events of the snapshot of a DISTINCT or COMMAND item have been published."""

    def source_failed(self, why: str) -> None:
        """It can go on no more: all its subscriptions are taken from the clients (UNSUB)."""


@dataclass
class SourceCounters:
    """What a source has come across since the process started; all count up."""

    records_read: int = 0
    records_mapped: int = 0
    """To at least one item that is subscribed."""
    records_failed: int = 0
    """Passed over, or the reason why all subscriptions ended."""


class Source(Protocol):
    """What feeds one data adapter."""

    counters: SourceCounters

    def start(self, listener: Listener) -> None:
        """Called once, on the running loop, before anything else."""

    def prepare(self, items: Sequence[str], ready: Callable[[], None]) -> bool:
        """Somebody is about to subscribe to these. Whether that may be said to be done at once: all that
        comes up from then on will be published. If not, `ready` is called later, on the loop, once, when
        it may; within few seconds, whatever happens."""

    def subscribe(self, item: str) -> None:
        """The first subscriber came. Raises UnknownItem when there can be no such item."""

    def unsubscribe(self, item: str) -> None:
        """The last subscriber left."""

    def schema(self, item: str) -> tuple[str, ...]:
        """The fields it can deliver; none: they are not known beforehand, any name is allowed."""

    def modes(self, item: str) -> frozenset[str]:
        """In which of MODES the item may be subscribed."""

    def snapshot_available(self, item: str) -> bool:
        """Whether it publishes a snapshot after `subscribe`, and its end (DISTINCT, COMMAND)."""

    def close(self) -> None:
        """Called once, on the loop, when the server ends."""


SlowCheck = Callable[[], None]
"""Raises NotAuthorized; may take its time, and is called in a thread of its own."""


class Authenticator(Protocol):
    """Decides who may open a session. It is called on the event loop, and must answer at once: with a
    check that has yet to be made, where that takes longer."""

    def authenticate(self, user: str | None, password: str | None, address: str) -> SlowCheck | None:
        """Raises NotAuthorized; None: let in. A token comes as the password, as Lightstreamer has it."""


@dataclass(frozen=True)
class AdapterSet:
    """What a client names as LS_adapter_set: its data adapters by name, and who may use them."""

    name: str
    sources: Mapping[str, Source]
    authenticator: Authenticator | None = None
    default_source: str = field(default=DEFAULT_DATA_ADAPTER)
    """Which one is meant when a subscription names none."""
    message_handler: Callable[[str | None, str], str] | None = None
    """Gets user and text of a message that a client sends, at once, on the loop; returns what is answered.
    None: messages are refused."""
