"""What a session is apart from its connection: its count of data lines, and how to recover them.

A session follows a stream, its own or one shared with others, and stands some lines beside that stream's
count. When it changes to another stream, it remembers for a while where the lines before that are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamgauge.gateway.protocol.ring import RecoveryRing
from streamgauge.gateway.protocol.streams import Stream

_MOST_STRETCHES = 100
"""That are remembered, of a session that changes streams all the time."""


class NotRecoverable(Exception):
    """The lines asked for are not held any more, or were never sent."""


@dataclass(frozen=True, slots=True)
class _Past:
    """The session's lines above `begin`, up to `end`: in this ring, `offset` below their session counts."""

    ring: RecoveryRing
    offset: int
    begin: int
    end: int
    left_ns: int
    older: _Past | None
    depth: int = 1


class Progress:
    """The place of one session in what it is sent."""

    __slots__ = ("_begin", "_offset", "_past", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._offset, self._begin = -stream.count, 0
        self._past: _Past | None = None

    @property
    def count(self) -> int:
        """Data lines sent in this session."""
        return self._offset + self.stream.count

    @property
    def has_past(self) -> bool:
        return self._past is not None

    def change(self, stream: Stream, now_ns: int) -> None:
        """Go on in another stream, from where that one stands."""
        count, older = self.count, self._past
        if older is not None and older.depth >= _MOST_STRETCHES:
            older = None
        depth = 1 if older is None else older.depth + 1
        self._past = _Past(self.stream.ring, self._offset, self._begin, count, now_ns, older, depth)
        self.stream, self._offset, self._begin = stream, count - stream.count, count

    def forget(self, before_ns: int) -> None:
        """Drop the streams left before this time: their lines have arrived, or nobody will ask for them."""
        kept, past = [], self._past
        while past is not None and past.left_ns >= before_ns:
            kept.append(past)
            past = past.older
        older: _Past | None = None
        for stretch in reversed(kept):
            older = replace(stretch, older=older)
        self._past = older

    def lines_after(self, count: int) -> list[bytes]:
        """The data lines already sent that a client which got `count` of them lacks."""
        if not 0 <= count <= self.count:
            raise NotRecoverable
        now = _Past(self.stream.ring, self._offset, self._begin, self.count, 0, self._past)
        stretches: list[list[bytes]] = []
        stretch: _Past | None = now
        while stretch is not None:
            after = max(count, stretch.begin)
            lines = stretch.ring.between(after - stretch.offset, stretch.end - stretch.offset)
            if lines is None:
                break
            stretches.append(lines)
            if count >= stretch.begin:
                return [line for lines in reversed(stretches) for line in lines]
            stretch = stretch.older
        raise NotRecoverable
