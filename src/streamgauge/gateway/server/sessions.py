"""Sessions, and the cohorts in which those that get the same are sent the same."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.protocol.commands import Binding, Diff
from streamgauge.gateway.protocol.sessions import Progress
from streamgauge.gateway.protocol.streams import Stream, Touched
from streamgauge.gateway.protocol.updates import Diffing
from streamgauge.gateway.protocol.versions import Version
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.links import Link, LinkKind

Key = tuple[LinkKind, bool, int, tuple[int, ...]]
_FRAME_BYTES = 65_536


class Cohort(Stream):
    """A stream and the sessions that follow it, all at the same place. Most often one, or very many.

    Who is slow, away, limited or about to follow something else leaves, and has a cohort of its own.
    """

    __slots__ = (*("armed_ns", "behind_since_ns", "key", "last_write_ns", "members", "sockets"),)

    def __init__(self, touched: Touched, *, limit_bytes: int, recovery_bytes: int, count: int = 0) -> None:
        super().__init__(touched, limit_bytes=limit_bytes, recovery_bytes=recovery_bytes, count=count)
        self.members: list[Session] = []
        self.sockets: list[int] = []
        """Of the members, in the same order."""
        self.key: Key | None = None
        """Under which others can find it to join."""
        self.last_write_ns = 0
        self.behind_since_ns: int | None = None
        """Since when its one member's socket takes nothing, though there is something."""
        self.armed_ns: int | None = None
        """When it is going to be looked at because something in it has to wait."""

    def add(self, session: Session) -> None:
        session.slot = len(self.members)
        self.members.append(session)
        self.sockets.append(-1 if session.link is None else session.link.socket)

    def remove(self, session: Session) -> None:
        """The last one takes its place: order does not matter."""
        last, socket = self.members.pop(), self.sockets.pop()
        if last is not session:
            self.members[session.slot], self.sockets[session.slot] = last, socket
            last.slot = session.slot

    def frames(self, lines: Sequence[bytes]) -> list[bytes]:
        """Lines as the members' links carry them, as few frames as is sensible."""
        link = self.members[0].link
        assert link is not None
        if len(lines) == 1:
            return [link.frame(lines[0])]
        frames, begin, size = [], 0, 0
        for index, line in enumerate(lines):
            size += len(line)
            if size >= _FRAME_BYTES or index == len(lines) - 1:
                frames.append(link.frame(b"".join(lines[begin : index + 1])))
                begin, size = index + 1, 0
        return frames


class Budget:
    """A session's bandwidth: bytes that may be sent by now."""

    __slots__ = ("_at_ns", "_bytes", "_bytes_per_s", "kbps")

    def __init__(self, kbps: float, now_ns: int) -> None:
        self.kbps = kbps
        self._bytes_per_s = kbps * 1000 / 8
        self._at_ns, self._bytes = now_ns, 0.0

    def room_bytes(self, now_ns: int) -> int:
        """At most what half a second brings: silence is not saved up for a burst."""
        earned = (now_ns - self._at_ns) / NS_PER_S * self._bytes_per_s
        self._bytes, self._at_ns = min(self._bytes + earned, self._bytes_per_s / 2), now_ns
        return max(0, int(self._bytes))

    def spend(self, sent_bytes: int) -> None:
        self._bytes -= sent_bytes

    def free_at_ns(self) -> int:
        """When a byte may be sent again, from the last look on."""
        return self._at_ns + int(max(0.0, 1 - self._bytes) / self._bytes_per_s * NS_PER_S) + 1


class Session:
    """One client. `progress.stream` is its cohort."""

    __slots__ = (
        *(
            "adapter_set",
            "address",
            "binding",
            "bound_ns",
            "budget",
            "deadline_ns",
            "diffs",
            "id",
            "keepalive_ms",
        ),
        *("last_request_ns", "link", "_message_numbers", "progress", "silent", "slot", "user", "version"),
    )

    def __init__(
        self, session_id: str, cohort: Cohort, version: Version, adapter_set: AdapterSet, address: str
    ) -> None:
        self.id, self.version, self.adapter_set, self.address = session_id, version, adapter_set, address
        self.progress = Progress(cohort)
        self.slot = 0
        self.link: Link | None = None
        """None: nobody is connected, and `deadline_ns` is when it is given up."""
        self.binding: Binding | None = None
        self.bound_ns = self.last_request_ns = self.deadline_ns = 0
        self.keepalive_ms = 0
        self.diffs = frozenset[Diff]()
        self.budget: Budget | None = None
        self.user: str | None = None
        self.silent = False
        """No CONS for this client."""
        self._message_numbers: dict[str | None, int] | None = None
        cohort.add(self)

    @property
    def cohort(self) -> Cohort:
        stream = self.progress.stream
        assert isinstance(stream, Cohort)
        return stream

    @property
    def message_numbers(self) -> dict[str | None, int]:
        """The highest number of a message by sequence; most sessions never send one."""
        if self._message_numbers is None:
            self._message_numbers = {}
        return self._message_numbers

    @property
    def is_polling(self) -> bool:
        return self.binding is not None and self.binding.polling is not None

    @property
    def may_share(self) -> bool:
        """Whether it can be sent what others are sent, when they are."""
        return self.link is not None and self.link.is_clear and self.budget is None and not self.is_polling

    def move(self, cohort: Cohort, now_ns: int) -> None:
        self.cohort.remove(self)
        self.progress.change(cohort, now_ns)
        cohort.add(self)

    def diffing(self, order: Sequence[Diff], json_min_length: int) -> Diffing:
        usable = self.diffs if self.version.has_diffs else frozenset[Diff]()
        return Diffing(tuple(diff for diff in order if diff in usable), json_min_length)
