"""TLCP by hand over real sockets: for what no well-behaved client library would send."""

from __future__ import annotations

import os
import socket
import ssl
import struct
from typing import Protocol, Self

from .client_frames import CLOSE, TEXT, frame
from .running import ADAPTER_SET, DEADLINE_S

CREATE = f"create_session\r\nLS_adapter_set={ADAPTER_SET}&LS_cid=test&LS_send_sync=false"


class Server(Protocol):
    """Whatever listens on a port of this machine."""

    @property
    def port(self) -> int: ...


class Closed(Exception):
    """The server has closed the connection; `code` is the WebSocket close code, if there was one."""

    def __init__(self, code: int | None = None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


_open: list[socket.socket] = []


def connect(server: Server, *, tls: bool = False) -> socket.socket:
    """A connection that is closed after the test, if not before."""
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        raw = context.wrap_socket(raw)
    _open.append(raw)
    return raw


def leave_open(raw: socket.socket) -> None:
    """Whoever has the connection closes it, not the end of the test."""
    _open.remove(raw)


def close_all() -> None:
    while _open:
        _open.pop().close()


class WebSocket:
    """One connection; lines come out one by one."""

    def __init__(
        self,
        server: Server,
        *,
        protocol: str | None = "TLCP-2.5.0.lightstreamer.com",
        origin: str | None = None,
        path: str = "/lightstreamer",
        tls: bool = False,
    ) -> None:
        self.socket = connect(server, tls=tls)
        self._received = b""
        self._lines: list[str] = []
        extra = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
        extra += f"Origin: {origin}\r\n" if origin else ""
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"{extra}\r\n".encode()
        )
        while b"\r\n\r\n" not in self._received:
            self._more()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        self.head = head.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    @property
    def is_upgraded(self) -> bool:
        return self.head.startswith("HTTP/1.1 101")

    def send(self, text: str) -> None:
        self.send_frame(text.encode())

    def send_frame(self, payload: bytes, opcode: int = TEXT, *, fin: bool = True) -> None:
        self.socket.sendall(frame(payload, opcode, fin=fin, mask=os.urandom(4)))

    def line(self) -> str:
        """The next line that is not a sign of life."""
        while True:
            while not self._lines:
                opcode, payload = self.frame()
                if opcode == CLOSE:
                    raise Closed(struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None)
                if opcode == TEXT:
                    assert payload.endswith(b"\r\n")
                    self._lines = payload.decode().removesuffix("\r\n").split("\r\n")
            line = self._lines.pop(0)
            if line != "PROBE":
                return line

    def lines(self, count: int) -> list[str]:
        return [self.line() for _ in range(count)]

    def until(self, tag: str) -> list[str]:
        """All lines up to the first that begins with a tag."""
        found = [self.line()]
        while not found[-1].startswith(tag):
            found.append(self.line())
        return found

    def frame(self) -> tuple[int, bytes]:
        """The next frame: its opcode and payload."""
        while len(self._received) < 2:
            self._more()
        size, at = self._received[1] & 127, 2
        wide = {126: (">H", 2), 127: (">Q", 8)}.get(size)
        if wide is not None:
            while len(self._received) < 2 + wide[1]:
                self._more()
            [size] = struct.unpack(wide[0], self._received[2 : 2 + wide[1]])
            at += wide[1]
        while len(self._received) < at + size:
            self._more()
        opcode, payload = self._received[0] & 15, self._received[at : at + size]
        self._received = self._received[at + size :]
        return opcode, payload

    def closed_with(self) -> int | None:
        """Read on until the server closes; with which code."""
        try:
            while True:
                self.line()
        except Closed as closed:
            return closed.code

    def open_session(self, more: str = "") -> str:
        """The id of a new session, all that is said at its begin being read."""
        self.send("wsok")
        self.send(CREATE + more)
        found = self.until("CONS")
        assert found[0] == "WSOK"
        return found[1].split(",")[1]

    def subscribe(
        self, item: str = "item", *, sub: int = 1, mode: str = "MERGE", schema: str = "n", more: str = ""
    ) -> None:
        """And read what says that it is done."""
        self.send(
            f"control\r\nLS_reqId={sub}&LS_op=add&LS_subId={sub}&LS_group={item.replace(' ', '%20')}"
            f"&LS_schema={schema.replace(' ', '%20')}&LS_mode={mode}&LS_ack=false{more}"
        )
        assert self.line().startswith("SUB")
        assert self.line().startswith("CONF")

    def _more(self) -> None:
        try:
            data = self.socket.recv(65_536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed
        self._received += data


class Answer:
    """An HTTP answer, read whole or as it comes."""

    def __init__(self, raw: socket.socket, received: bytes = b"", *, has_body: bool = True) -> None:
        self._socket, self._received, self._body = raw, received, b""
        head = self._until(b"\r\n\r\n").decode()
        first, *rest = head.split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
        }
        self._is_chunked = self.headers.get("transfer-encoding") == "chunked"
        if not self._is_chunked:
            size = int(self.headers.get("content-length", "0")) if has_body else 0
            while len(self._received) < size:
                self._more()
            self.body, self.rest = self._received[:size].decode(), self._received[size:]

    def line(self) -> str | None:
        """The next line of a body that comes in chunks; None at its end."""
        while b"\r\n" not in self._body:
            size = int(self._until(b"\r\n"), 16)
            while len(self._received) < size + 2:
                self._more()
            self._body += self._received[:size]
            self._received = self._received[size + 2 :]
            if not size:
                return None
        line, _, self._body = self._body.partition(b"\r\n")
        return self.line() if line == b"PROBE" else line.decode()

    def lines(self) -> list[str]:
        """All lines to the end."""
        found: list[str] = []
        while (line := self.line()) is not None:
            found.append(line)
        return found

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._received:
            self._more()
        found, _, self._received = self._received.partition(mark)
        return found

    def _more(self) -> None:
        data = self._socket.recv(65_536)
        if not data:
            raise Closed
        self._received += data


def post(
    server: Server,
    name: str,
    body: str | bytes,
    *,
    query: str = "LS_protocol=TLCP-2.5.0",
    headers: str = "",
    on: socket.socket | None = None,
) -> Answer:
    """A request by HTTP, on a connection of its own unless one is given."""
    data = body if isinstance(body, bytes) else body.encode()
    raw = on or connect(server)
    raw.sendall(
        f"POST /lightstreamer/{name}.txt?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}"
        f"Content-Length: {len(data)}\r\n\r\n".encode()
        + data
    )
    return Answer(raw)


def get(server: Server, path: str, *, method: str = "GET", headers: str = "") -> Answer:
    raw = connect(server)
    raw.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}\r\n".encode())
    return Answer(raw, has_body=method != "HEAD")
