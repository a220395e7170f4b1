"""One client session of a push gateway over WebSocket, as light as it can be: thousands live in a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import orjson
import picows

from streamgauge.core.errors import BadInput
from streamgauge.drivers.swarm import JSON_KINDS, MessageKind
from streamgauge.gateway.protocol.percent import encode_request_value
from streamgauge.gateway.protocol.updates import ItemDecoder

if TYPE_CHECKING:
    from streamgauge.drivers.push.access import GatewayAccess
    from streamgauge.drivers.push.swarm import PushSwarm

SUBPROTOCOL = "TLCP-2.5.0.lightstreamer.com"
_UPDATE = b"U,1,1,"
"""Every session has one subscription to one item. No value of ours can hold this text."""
_SUBSCRIBED = (b"SUBOK,1,", b"SUBCMD,1,")
_CLIENT_ID = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"
"""What clients that are not Lightstreamer's own have to say."""
_TEXT, _CLOSE = picows.WSMsgType.TEXT, picows.WSMsgType.CLOSE

StampOf = Callable[[list[str | None]], str]
"""The time that an update carries, from the values of its fields."""


class LoadSession(picows.WSListener):
    """Subscribes, then counts updates without looking into them."""

    __slots__ = ("_counts", "_joined", "place", "subscribed", "swarm", "transport")

    def __init__(self, swarm: PushSwarm, place: int, subscribed: asyncio.Future[None]) -> None:
        self.swarm, self.place, self.subscribed = swarm, place, subscribed
        self._counts = swarm.counts
        self._joined = False
        self.transport: picows.WSTransport | None = None

    def on_ws_connected(self, transport: picows.WSTransport) -> None:
        self.transport = transport
        for request in self.swarm.requests(self.place):
            transport.send(_TEXT, request)

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        payload = frame.get_payload_as_bytes()
        if self._joined:
            self._counts[self.place] += payload.count(_UPDATE)
            if b"OV,1," in payload or frame.msg_type != _TEXT:
                self._trouble(payload, frame)
        else:
            self._join(payload)

    def on_ws_disconnected(self, transport: picows.WSTransport) -> None:
        self.swarm.lost(self.place, "the gateway closed the connection")
        if not self.subscribed.done():
            self.subscribed.set_exception(ConnectionError("the gateway closed the connection"))

    def _join(self, payload: bytes) -> None:
        """Told in this order: WSOK, CONOK …, SUBOK (of COMMAND, SUBCMD), CONF; updates may follow at once."""
        for line in payload.split(b"\r\n"):
            if line.startswith((b"CONERR", b"REQERR", b"ERROR", b"END")) and not self.subscribed.done():
                self.subscribed.set_exception(ConnectionError(line.decode(errors="replace")))
            elif line.startswith(_SUBSCRIBED):
                self._joined = True
                if not self.subscribed.done():
                    self.subscribed.set_result(None)
        if self._joined and _UPDATE in payload:
            self.take(payload)

    def take(self, payload: bytes) -> None:
        self._counts[self.place] += payload.count(_UPDATE)

    def _trouble(self, payload: bytes, frame: picows.WSFrame) -> None:
        if frame.msg_type == _CLOSE:
            self.swarm.lost(self.place, "the gateway closed the connection")
        elif b"\r\nOV,1," in payload or payload.startswith(b"OV,1,"):
            self.swarm.overflown += 1


class MeasuredSession(LoadSession):
    """Decodes every update, and tells of it."""

    __slots__ = ("_decoder", "_stamp_of")

    def __init__(self, swarm: PushSwarm, place: int, subscribed: asyncio.Future[None]) -> None:
        super().__init__(swarm, place, subscribed)
        self._decoder = ItemDecoder(len(swarm.options.fields))
        self._stamp_of = swarm.stamp_of

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        payload = frame.get_payload_as_bytes()
        if not self._joined:
            self._join(payload)
            return
        self.take(payload)
        if b"OV,1," in payload or frame.msg_type != _TEXT:
            self._trouble(payload, frame)

    def take(self, payload: bytes) -> None:
        for line in payload.decode().split("\r\n"):
            if line.startswith("U,1,1,"):
                values = self._decoder.apply(line[6:])
                self.swarm.heard(self.place, self._stamp_of(values))
                self._counts[self.place] += 1


def requests_of(
    access: GatewayAccess, item: str, fields: tuple[str, ...], frequency: float | str
) -> list[bytes]:
    """What a session says: hello, a new session, one subscription. All at once: answers come in order."""
    wanted = {
        "LS_reqId": "1",
        "LS_op": "add",
        "LS_subId": "1",
        "LS_mode": access.mode,
        "LS_group": item,
        "LS_schema": " ".join(fields),
        "LS_snapshot": "false",
        "LS_requested_max_frequency": frequency if isinstance(frequency, str) else f"{frequency:g}",
        "LS_ack": "false",
    }
    if access.data_adapter is not None:
        wanted["LS_data_adapter"] = access.data_adapter
    session = {"LS_adapter_set": access.adapter_set, "LS_cid": _CLIENT_ID, "LS_send_sync": "false"}
    if access.user is not None:
        session["LS_user"] = access.user
    if access.password is not None:
        session["LS_password"] = access.password
    return [
        b"wsok",
        b"create_session\r\n" + _parameters(session),
        b"control\r\n" + _parameters(wanted),
    ]


def stamp_reader(fields: tuple[str, ...], kind: MessageKind) -> StampOf:
    """Where a scenario's updates have their time: a field of its own, inside JSON, or first in a text."""
    if "timestamp" in fields:
        place = fields.index("timestamp")
        return lambda values: values[place] or ""
    if "value" not in fields:
        raise BadInput(f"fields {', '.join(fields)}: timestamp or value is needed: it carries the time")
    place = fields.index("value")
    if kind in JSON_KINDS:
        return lambda values: str(orjson.loads(values[place] or "{}").get("timestamp", ""))
    return lambda values: values[place] or ""


def _parameters(given: dict[str, str]) -> bytes:
    return "&".join(f"{name}={encode_request_value(value)}" for name, value in given.items()).encode()
