"""What a WebSocket client sends: frames, and the messages that they make up (RFC 6455). No I/O.

Bytes may come in any pieces. Whatever breaks a rule is found as soon as it can be: at a frame's first two
bytes, at the first byte that cannot be UTF-8. What came whole before it has been told by then.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from streamgauge.gateway.server.framing import masked_frame, masked_head

_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_KNOWN = frozenset({_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG})
_FIN, _RESERVED, _OPCODE, _MASKED, _SIZE = 0x80, 0x70, 0x0F, 0x80, 0x7F
_FIRST_CONTROL = 0x8
_MOST_CONTROL_BYTES = 125
_WIDE_BYTES = {126: 2, 127: 8}
_MASK_BYTES = 4
_SHORT_HEAD_BYTES = 2 + _MASK_BYTES
_UTF_8 = codecs.getincrementaldecoder("utf-8")


class CloseCode(IntEnum):
    NORMAL = 1000
    GOING_AWAY = 1001
    PROTOCOL_ERROR = 1002
    UNSUPPORTED_DATA = 1003
    INVALID_TEXT = 1007
    POLICY_VIOLATION = 1008
    MESSAGE_TOO_BIG = 1009
    INTERNAL_ERROR = 1011


@dataclass(eq=False)
class Broken(Exception):
    """The client has broken a rule: the connection is to be closed with this code."""

    code: CloseCode
    why: str


class Text(NamedTuple):
    message: str


class Ping(NamedTuple):
    payload: bytes


class Pong(NamedTuple):
    payload: bytes


class Close(NamedTuple):
    code: int | None
    """None: the client gave none."""


Event = Text | Ping | Pong | Close


class FrameReader:
    """One connection's. After `Broken` or `Close` nothing more is to be read by it."""

    __slots__ = (
        *("_decoder", "_first", "_fragments", "_is_inside", "_left", "_limit_bytes", "_mask", "_message"),
        *("_most_fragments", "_payload", "_rest", "_size", "_unread", "frame_count"),
    )

    def __init__(self, limit_bytes: int, most_fragments: int) -> None:
        """`limit_bytes`: of a message; `most_fragments`: of which it is made."""
        self._limit_bytes, self._most_fragments = limit_bytes, most_fragments
        self._rest = b""
        """Of a frame's head that has not come whole."""
        self._unread = 0
        """Bytes behind what was told last."""
        self._is_inside = False
        """The payload of a frame is being read, of which `_left` bytes are to come."""
        self._first = self._size = self._left = 0
        self._mask = b""
        self._payload = bytearray()
        """Of the frame, as far as it has come."""
        self._message = bytearray()
        """Of the frames before it that belong to the same message."""
        self._fragments = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self.frame_count = 0
        """Whose heads have been read."""

    @property
    def kept_bytes(self) -> int:
        return self._unread + len(self._rest) + len(self._payload) + len(self._message)

    def read(self, data: bytes) -> Iterator[Event]:
        """What has come whole by now; all of it is kept until it is asked for."""
        self._unread = len(data)
        return self._events(data)

    def _events(self, data: bytes) -> Iterator[Event]:
        if self._rest:
            data, self._rest = self._rest + data, b""
        at, end = 0, len(data)
        while at < end:
            self._unread = 0
            if not self._is_inside:
                short = self._short_message(data, at)
                if short is not None:
                    at += _SHORT_HEAD_BYTES + (data[at + 1] & _SIZE)
                    self._unread = end - at
                    yield short
                    continue
                begin = self._read_head(data, at)
                if begin is None:
                    self._rest = data[at:]
                    return
                at = begin
            piece = data[at : at + self._left]
            at += len(piece)
            self._take(piece)
            if self._left:
                return
            self._is_inside = False
            event = self._frame_end()
            if event is not None:
                self._unread = end - at
                yield event

    def unfinished(self) -> bytes:
        """What has come of a message and of a frame that are not whole yet, as a client would send it."""
        told = b""
        is_control = (self._first & _OPCODE) >= _FIRST_CONTROL
        if self._fragments > (1 if self._is_inside and not is_control else 0):
            told = masked_frame(bytes(self._message), fin=False)
        if self._is_inside:
            told += masked_head(self._first, self._size, self._mask) + _masked(
                bytes(self._payload), self._mask, 0
            )
        return told + self._rest

    def _short_message(self, data: bytes, at: int) -> Text | None:
        """Nearly all that is sent: a message in one frame that came whole. None: it is something else."""
        payload_at = at + _SHORT_HEAD_BYTES
        if len(data) < payload_at or data[at] != _FIN | _TEXT or self._fragments:
            return None
        size = data[at + 1] - _MASKED
        if not 0 <= size <= _MOST_CONTROL_BYTES or len(data) < payload_at + size or size > self._limit_bytes:
            return None
        self.frame_count += 1
        payload = _masked(data[payload_at : payload_at + size], data[at + 2 : payload_at], 0)
        return _text(payload)

    def _read_head(self, data: bytes, at: int) -> int | None:
        """Where the payload begins; None while the head has not come whole."""
        if len(data) < at + 2:
            return None
        first, second = data[at], data[at + 1]
        opcode, size = first & _OPCODE, second & _SIZE
        self._check_head(first, opcode, second)
        at += 2
        wide = _WIDE_BYTES.get(size, 0)
        if len(data) < at + wide + _MASK_BYTES:
            return None
        if wide:
            size = int.from_bytes(data[at : at + wide], "big")
            if size <= (_MOST_CONTROL_BYTES if wide == 2 else 0xFFFF) or size >> 63:
                raise Broken(CloseCode.PROTOCOL_ERROR, "a length is not written as it must be")
            at += wide
        if opcode < _FIRST_CONTROL:
            self._fragments += 1
            if len(self._message) + size > self._limit_bytes:
                raise Broken(CloseCode.MESSAGE_TOO_BIG, "a request is too long")
            if self._fragments > self._most_fragments:
                raise Broken(CloseCode.POLICY_VIOLATION, "a message is in too many fragments")
        self._first, self._size, self._left = first, size, size
        self._mask = data[at : at + _MASK_BYTES]
        self._is_inside = True
        self.frame_count += 1
        return at + _MASK_BYTES

    def _check_head(self, first: int, opcode: int, second: int) -> None:
        if first & _RESERVED:
            raise Broken(CloseCode.PROTOCOL_ERROR, "no extension was agreed on that uses reserved bits")
        if opcode not in _KNOWN:
            raise Broken(CloseCode.PROTOCOL_ERROR, f"there is no opcode {opcode}")
        if not second & _MASKED:
            raise Broken(CloseCode.PROTOCOL_ERROR, "a client's frames must be masked")
        if opcode >= _FIRST_CONTROL:
            if not first & _FIN:
                raise Broken(CloseCode.PROTOCOL_ERROR, "a control frame must not be fragmented")
            if second & _SIZE > _MOST_CONTROL_BYTES:
                raise Broken(CloseCode.PROTOCOL_ERROR, "a control frame is too long")
        elif (opcode == _CONTINUATION) is (self._fragments == 0):
            raise Broken(CloseCode.PROTOCOL_ERROR, "a fragment out of place")
        elif opcode == _BINARY:
            raise Broken(CloseCode.UNSUPPORTED_DATA, "text messages only")

    def _take(self, piece: bytes) -> None:
        """Some of a frame's payload."""
        plain = _masked(piece, self._mask, self._size - self._left)
        self._left -= len(piece)
        self._payload += plain
        if self._first & _OPCODE < _FIRST_CONTROL and not self._is_whole_message:
            self._check_text(plain, final=not self._left and bool(self._first & _FIN))

    @property
    def _is_whole_message(self) -> bool:
        """A frame that is a message by itself and came in one piece: it is decoded once, at its end."""
        return self._fragments == 1 and self._first & _FIN > 0 and len(self._payload) == self._size

    def _check_text(self, plain: bytes, *, final: bool) -> None:
        if self._decoder is None:
            self._decoder = _UTF_8()
        try:
            self._decoder.decode(plain, final)
        except UnicodeDecodeError:
            raise Broken(CloseCode.INVALID_TEXT, "a message is not UTF-8") from None

    def _frame_end(self) -> Event | None:
        opcode, payload = self._first & _OPCODE, bytes(self._payload)
        self._payload.clear()
        if opcode >= _FIRST_CONTROL:
            return _control(opcode, payload)
        if not self._first & _FIN:
            self._message += payload
            return None
        message = bytes(self._message) + payload if self._message else payload
        self._message.clear()
        self._fragments, self._decoder = 0, None
        return _text(message)


def _text(message: bytes) -> Text:
    try:
        return Text(message.decode())
    except UnicodeDecodeError:
        raise Broken(CloseCode.INVALID_TEXT, "a message is not UTF-8") from None


def _control(opcode: int, payload: bytes) -> Event:
    if opcode == _PING:
        return Ping(payload)
    if opcode == _PONG:
        return Pong(payload)
    if not payload:
        return Close(None)
    code = int.from_bytes(payload[:2], "big")
    if len(payload) < 2 or not _is_for_the_wire(code):
        raise Broken(CloseCode.PROTOCOL_ERROR, "this is no code to close with")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise Broken(CloseCode.INVALID_TEXT, "the reason to close is not UTF-8") from None
    return Close(code)


def _is_for_the_wire(code: int) -> bool:
    """Those that are registered, and those for everybody's use; some are never to be sent (RFC 6455, 7.4)."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


def _masked(data: bytes, mask: bytes, at: int) -> bytes:
    """To mask and to unmask is the same. `at`: how much of the payload came before."""
    size = len(data)
    turned = mask[at % _MASK_BYTES :] + mask[: at % _MASK_BYTES]
    pad = turned * (size // _MASK_BYTES + 1)
    return (int.from_bytes(data, "little") ^ int.from_bytes(pad[:size], "little")).to_bytes(size, "little")
