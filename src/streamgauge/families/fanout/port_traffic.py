"""What the connections of one local TCP port have carried, by the kernel's count: Linux's sock_diag.

For servers whose sockets are in other processes. The kernel filters by port, so that connections of others
cost nothing but being passed over.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator

from streamgauge.families.fanout.socket_traffic import SocketTraffic, bytes_in_tcp_info

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_DONE, _ERROR = 3, 2
_ESTABLISHED = 1 << 1
_INFO = 2
_BYTECODE = 1
_SOURCE_AT_LEAST, _SOURCE_AT_MOST = 2, 3
_HEAD = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")
_ATTRIBUTE = struct.Struct("=HH")
_MESSAGE_LENGTH = 72
_BUFFER_BYTES = 1 << 18
_DEADLINE_S = 2.0


def port_traffic(port: int) -> SocketTraffic | None:
    """Of all connections to this port that are open now; None where the kernel does not tell."""
    if not hasattr(socket, "AF_NETLINK"):
        return None
    sockets = received = sent = 0
    try:
        for family in (socket.AF_INET, socket.AF_INET6):
            for told in _dump(family, port):
                got, acked = told
                sockets, received, sent = sockets + 1, received + got, sent + acked
    except OSError:
        return None
    return SocketTraffic(sockets, received, sent)


def _dump(family: int, port: int) -> Iterator[tuple[int, int]]:
    with contextlib.closing(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)) as asking:
        asking.settimeout(_DEADLINE_S)
        asking.send(_question(family, port))
        while True:
            answer = asking.recv(_BUFFER_BYTES)
            at = 0
            while at < len(answer):
                length, kind, *_ = _HEAD.unpack_from(answer, at)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    code = -struct.unpack_from("=i", answer, at + _HEAD.size)[0]
                    raise OSError(code, os.strerror(code))
                if (found := _bytes_of(answer[at + _HEAD.size : at + length])) is not None:
                    yield found
                at += (length + 3) & ~3


def _question(family: int, port: int) -> bytes:
    # Two operations: the source port is at least, and at most, this one; past the end is a refusal.
    operations = b"".join(
        struct.pack("=BBH", code, 8, 20 - 8 * number) + struct.pack("=BBH", 0, 0, port)
        for number, code in enumerate((_SOURCE_AT_LEAST, _SOURCE_AT_MOST))
    )
    attribute = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(operations), _BYTECODE) + operations
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), _ESTABLISHED) + attribute
    return _HEAD.pack(_HEAD.size + len(request), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + request


def _bytes_of(message: bytes) -> tuple[int, int] | None:
    """Received and sent bytes in the attributes behind a message."""
    at = _MESSAGE_LENGTH
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if length < _ATTRIBUTE.size:
            return None
        if kind == _INFO:
            return bytes_in_tcp_info(message[at + _ATTRIBUTE.size : at + length])
        at += (length + 3) & ~3
    return None
