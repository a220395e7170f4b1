"""One client session of a push gateway on picows, as light as it can be: thousands live in a process.

The twin of `native/frames.c`: what breaks a rule there breaks one here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import picows

from streamgauge.core.clock import now_ns
from streamgauge.drivers.push.lines import NEXT_UPDATE, PROBE, UPDATE, is_subscribed
from streamgauge.drivers.push.timed_field import TimeReader

if TYPE_CHECKING:
    from streamgauge.drivers.push.picows_swarm import PicowsSwarm

_TEXT, _CLOSE, _CONTINUATION = picows.WSMsgType.TEXT, picows.WSMsgType.CLOSE, picows.WSMsgType.CONTINUATION
_BESIDE = (picows.WSMsgType.PING, picows.WSMsgType.PONG)


class LoadSession(picows.WSListener):
    """Subscribes, then counts updates without looking into them."""

    __slots__ = ("_counts", "_joined", "_parts", "place", "swarm", "transport")

    def __init__(self, swarm: PicowsSwarm, place: int) -> None:
        self.swarm, self.place = swarm, place
        self._counts = swarm.counts
        self._joined = False
        self._parts: list[bytes] | None = None
        """Of a message whose last frame is to come."""
        self.transport: picows.WSTransport | None = None

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        self.transport = transport
        for request in self.swarm.requests(self.place):
            transport.send(_TEXT, request)

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        if self.place in self.swarm.gone:
            return
        if frame.msg_type == _TEXT and frame.fin and self._parts is None:
            self._take(frame.get_payload_as_bytes())
        else:
            self._take_part(frame)

    def on_ws_disconnected(self, transport: picows.WSTransport) -> None:
        self.swarm.lost(self.place)

    def _take_part(self, frame: picows.WSFrame) -> None:
        if frame.msg_type == _CLOSE:
            self.swarm.lost(self.place)
        elif frame.msg_type == (_TEXT if self._parts is None else _CONTINUATION):
            self._parts = [*(self._parts or ()), frame.get_payload_as_bytes()]
            if sum(map(len, self._parts)) > self.swarm.most_message_bytes:
                self._break_off("a message longer than any that is expected")
            elif frame.fin:
                payload, self._parts = b"".join(self._parts), None
                self._take(payload)
        elif frame.msg_type not in _BESIDE:
            self._break_off("a frame that is no part of a text message")

    def _take(self, payload: bytes) -> None:
        """A whole message: lines, of which nearly all are updates."""
        if self._joined:
            updates = payload.count(NEXT_UPDATE) + payload.startswith(UPDATE)
            if updates == payload.count(b"\r\n") and payload.endswith(b"\r\n"):
                self._take_updates(payload, updates)
                return
        for line in payload.split(b"\r\n"):
            if self._joined and line.startswith(UPDATE):
                self._take_updates(line, 1)
            elif not self._joined or (line and line != PROBE):
                self.swarm.told(self.place, line)
                self._joined = self._joined or is_subscribed(line)
            if self.place in self.swarm.gone:
                return

    def _take_updates(self, lines: bytes, count: int) -> None:
        self._counts[self.place] += count

    def _break_off(self, why: str) -> None:
        self.swarm.lost(self.place, why)
        if self.transport is not None:
            self.transport.disconnect(graceful=False)


class MeasuredSession(LoadSession):
    """Reads the time of every update, and tells of it."""

    __slots__ = ("_reader",)

    def __init__(self, swarm: PicowsSwarm, place: int) -> None:
        super().__init__(swarm, place)
        self._reader = TimeReader(swarm.field)

    def _take_updates(self, lines: bytes, count: int) -> None:
        received_ns = now_ns()
        for line in lines.decode(errors="replace").split("\r\n")[:count]:
            try:
                self.swarm.heard(self.place, self._reader.read(line[len(UPDATE) :]), received_ns)
            except ValueError as error:
                self._break_off(f"an update cannot be read: {error}")
                return
            self._counts[self.place] += 1
